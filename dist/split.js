import { testbedsThatDiffer, variantsByMaking } from "./build.js";
import { cellsOf, dealt, policyOf, refuseUsed, shareOf, together } from "./experiment.js";
import { gate, thenGivenBack } from "./gate.js";
import { notTheSame } from "./inventory.js";
import { explained, outcomeName, writeResult } from "./report.js";
import { cellName, notUsed, reasonOf, upshotOfResult, withoutPaths } from "./words.js";
import { join } from "node:path";

// src/split.ts
/**
* Judges a patch as `gate` does, with its cells on as many of the testbeds as are free: it waits for the first of them, and
* but a short while for others. Each part has a folder of its own in the work directory, named by its testbed. Where a
* part fails the others go on; that is thrown in the end, unless they have found what ends the patch.
*/
async function splitGate(request, directory, world) {
	const { patch, config } = request;
	const cells = request.cells ?? cellsOf(config);
	const testbeds = request.isMeasuredAnyway || request.isRelinked ? request.testbeds : await differing(request, world);
	if (testbeds.length < 2 || cells.length < 2) return gate({
		...request,
		...testbeds.length > 0 && { testbeds }
	}, directory, world);
	await refuseUsed(directory);
	for (const text of request.leftOut) world.onEvent({
		kind: "told",
		text
	});
	const reserved = await world.reserve(testbeds, patch);
	const { onEvent } = world.partOn(reserved.name);
	const first = await opened(reserved, {
		cells,
		config
	}, onEvent);
	const ours = [first, ...await joining(testbeds.filter((name) => name !== first.name), first, {
		...request,
		cells
	}, world)];
	if (ours.length === 1) return onOne({
		...request,
		cells
	}, first, directory, world);
	const parts = dealt(cells, ours.length);
	world.onEvent({
		kind: "told",
		text: dealtText(ours, parts)
	});
	const ended = await Promise.allSettled(ours.map(async (one, index) => {
		const own = parts[index] ?? [];
		const share = {
			...request,
			cells: own,
			config: shareOf(config, own.length, cells.length)
		};
		return {
			result: await onOne(share, one, join(directory, one.name), {
				...world,
				onEvent: one.onEvent
			}),
			folder: one.name
		};
	}));
	const done = ended.flatMap((one) => one.status === "fulfilled" ? one.value : []);
	const [failure, ...more] = ended.filter((one) => one.status === "rejected");
	if (done.length === 0) throw failure?.reason;
	const warn = (text) => world.onEvent({
		kind: "warning",
		text
	});
	for (const { reason } of more) warn(reasonOf(reason));
	const whole = together(done, policyOf(config), cells);
	if (failure !== void 0) {
		if (upshotOfResult(whole) !== "patchAtFault") throw failure.reason;
		const text = `Not all cells were measured: ${withoutPaths(reasonOf(failure.reason))}`;
		warn(text);
		whole.testbed.warnings.push(text);
	}
	const { result, profiles } = await explained(whole, directory, warn);
	await writeResult(directory, result, profiles, warn);
	return result;
}
async function differing(request, { repository }) {
	const variants = await variantsByMaking(request, repository);
	return testbedsThatDiffer({
		...request,
		variants
	}, repository);
}
/** What the testbed is; given back where that cannot be told. */
async function opened(reserved, { cells, config }, onEvent) {
	let left = reserved;
	return thenGivenBack(() => left, { onEvent }, String, async () => {
		const testbed = await reserved.open(config.traffic);
		try {
			const inspection = await testbed.inspect(cells);
			left = void 0;
			return {
				name: reserved.name,
				reserved,
				testbed,
				inspection,
				onEvent
			};
		} catch (error) {
			await testbed.restore();
			throw error;
		}
	});
}
/** Testbeds that are free within a short while, and the same machines; at most one for each further cell. */
async function joining(names, first, request, world) {
	const asked = names.slice(0, request.cells.length - 1);
	return (await Promise.all(asked.map(async (name) => {
		const { onEvent, reserveSoon } = world.partOn(name);
		const staysOut = (text) => onEvent({
			kind: "told",
			text
		});
		try {
			const ours = await opened(await reserveSoon(request.patch, secondsForOthers), request, onEvent);
			const fact = otherFact(first.inspection, ours.inspection);
			if (fact === void 0) return [ours];
			staysOut(notTheSame(name, fact, first.name));
			await leave(ours);
		} catch (error) {
			if (!world.signal.aborted) staysOut(`${name} takes no part (${reasonOf(error)}): the others measure its cells.`);
		}
		return [];
	}))).flat();
}
/** A testbed that is ours waits so long for others. */
const secondsForOthers = 60;
const leave = ({ reserved, testbed, onEvent }) => thenGivenBack(() => reserved, { onEvent }, () => notUsed("it is not the same machine"), () => testbed.restore());
/** The first fact of its cards, CPU and drivers in which a machine differs from another. */
function otherFact(one, other) {
	const [a, b] = [one.fingerprint, other.fingerprint];
	return [.../* @__PURE__ */ new Set([...Object.keys(a), ...Object.keys(b)])].filter(isOfHardware).find((name) => a[name] !== b[name]);
}
/** Facts by the names that fingerprints of FreeBSD and Linux give them. A card in another slot, or another firmware of it, is another. */
const isOfHardware = (name) => /^(?:cpu|machine|architecture|hw\.ncpu|NIC .*|.* media|dev\..*\.(?:firmware|fw)_version)$/.test(name);
const dealtText = (ours, parts) => `The cells are split: ${parts.map((cells, index) => `${cells.map(cellName).join(", ")} on ${ours[index]?.name}`).join("; ")}.`;
/** The gate of some cells on a testbed that is ours already. */
const onOne = (request, { name, reserved, testbed, inspection }, directory, world) => thenGivenBack(() => reserved, world, outcomeName, async () => {
	let restored;
	const restore = () => {
		restored ??= testbed.restore();
		return restored;
	};
	const open = async () => ({
		...testbed,
		inspect: async () => inspection,
		restore
	});
	const kept = {
		...reserved,
		open,
		giveBack: async () => void 0
	};
	try {
		AbortSignal.any([world.signal, reserved.signal]).throwIfAborted();
		const known = {
			...request,
			testbeds: [name],
			isMeasuredAnyway: true
		};
		return await gate(known, directory, {
			...world,
			board: void 0,
			reserve: async () => kept
		});
	} finally {
		await restore();
	}
});

export { splitGate };