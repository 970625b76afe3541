// src/system/semaphore.ts
function semaphore(atOnce) {
	let free = atOnce;
	const waiting = [];
	return async (work) => {
		if (free === 0) await new Promise((resolve) => waiting.push(resolve));
		else free -= 1;
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next === void 0) free += 1;
			else next();
		}
	};
}

export { semaphore };