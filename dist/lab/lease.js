import { HostError, commandText, ownFolder, shell, stdoutOf } from "../system/host.js";
import { generatorsOf, rolesOf } from "../lab.js";

// src/lab/lease/fence.ts
/** Has an empty file for each token that the machine has seen, named by it. Most machines keep it over a reboot. */
const tokenFolder = "/var/tmp/ppsgate-tokens";
/**
* Throws a FencedError for every task once the machine has seen a higher token. Uploads check only at their beginning.
*/
function fencedHost(host, fence, folder = tokenFolder) {
	const word = tokenWord(fence.token);
	const guarded = (command) => shell`sh -c ${guardIn(folder)} ppsgate ${word} ${commandText(command)}`;
	const run = async (command, options = {}) => {
		fence.assertHeld();
		const outcome = await host.run(guarded(command), {
			...options,
			shownAs: command
		});
		if (outcome.kind !== "exited" || outcome.code !== refusalCode) return outcome;
		refuse(host, options.onStderr === void 0 ? outcome.stderr : await checkAgain(options), fence.token, folder);
		return outcome;
	};
	const checkAgain = async ({ signal, timeoutSeconds }) => {
		const limits = {
			...signal !== void 0 && { signal },
			...timeoutSeconds !== void 0 && { timeoutSeconds }
		};
		return (await host.run(guarded(shell`:`), {
			...limits,
			shownAs: shell`:`
		})).stderr;
	};
	const output = async (command, options) => stdoutOf(await run(command, options), host.name, command);
	return {
		...host,
		run,
		output,
		async upload(source, remotePath, mode, options) {
			await output(shell`: upload ${remotePath}`, options);
			fence.assertHeld();
			await host.upload(source, remotePath, mode, options);
		}
	};
}
/** Makes the machine refuse lower tokens. Throws a FencedError if it has seen a higher one, or a HostError. */
async function raiseFence(host, token, folder = tokenFolder) {
	const raising = shell`sh -c ${raiseIn(folder)} ppsgate ${tokenWord(token)}`;
	const shownAs = shell`touch ${`${folder}/${token}`}`;
	const outcome = await host.run(raising, {
		timeoutSeconds: raiseSeconds,
		shownAs
	});
	refuse(host, outcome.stderr, token, folder);
	stdoutOf(outcome, host.name, shownAs);
}
/** A later lease has the machine. Nothing was done there, and a retry has no use. */
var FencedError = class extends Error {
	name = "FencedError";
};
/** Time limit for a machine that dies right after the login. */
const raiseSeconds = 60;
/** No program here uses this code. The guard's message confirms a refusal. */
const refusalCode = 213;
/** Runs the command unless the folder has a higher token. One line without `!`, as root's login shell may be csh. */
const guardIn = (folder) => commandText(shell`${refuseHigherIn(folder)}; exec sh -c "$2"`);
/** Writes its own token before it looks for a higher one. In a race, the lower token always sees the higher one. */
const raiseIn = (folder) => commandText(shell`${ownFolder(folder)} && : >${folder}/"$1" || exit 1; ${refuseHigherIn(folder)}; for file in ${folder}/[0-9]*; do if test "\${file##*/}" -lt "$1" 2>/dev/null; then rm -f "$file"; fi; done`);
/** test(1) fails for a name that is not a number. */
const refuseHigherIn = (folder) => shell`for file in ${folder}/[0-9]*; do seen=\${file##*/}; if test "$seen" -gt "$1" 2>/dev/null; then echo "ppsgate: token $seen refuses $1" >&2; exit ${refusalCode}; fi; done`;
function refuse(host, stderr, token, folder) {
	const [, seen, refused] = /^ppsgate: token (\d+) refuses (\d+)$/m.exec(stderr) ?? [];
	if (seen === void 0 || refused !== String(token)) return;
	throw new FencedError(`Nothing was done on ${host.name}: a later lease (its token is ${seen}) has taken the testbed over from ours (token ${token}); if the reservation store was made anew, with lower tokens, remove ${folder} there.`);
}
/** To test(1), a fraction or `1e+21` is not a number, and would pass every guard. */
function tokenWord(token) {
	if (Number.isSafeInteger(token) && token >= 0) return String(token);
	throw new TypeError(`${token} is no fencing token: it has to be a whole number.`);
}

// src/lab/lease/testbed-fence.ts
/** Fences tasks, power cycles and consoles of one testbed, but not its builder, which serves many leases at once. */
function fencedDeps(deps, testbed, lease) {
	const connect = fencedConnect(deps.connect, lease);
	return {
		...deps,
		connect: (config, label, options) => config === testbed.builder ? deps.connect(config, label, options) : connect(config, label, options),
		async openPower(name, config) {
			const power = await deps.openPower(name, config);
			return {
				state: () => power.state(),
				async cycle() {
					await lease.prove();
					await checkGenerators(deps, testbed, lease);
					lease.assertHeld();
					await power.cycle();
				}
			};
		},
		async openConsole(name, config, onOutput) {
			await lease.prove();
			lease.assertHeld();
			return deps.openConsole(name, config, onOutput);
		}
	};
}
/** Raises the fence at each login: an appliance has /var in memory, and loses its tokens in a boot. */
function fencedConnect(connect, fence) {
	return async (config, label, options) => {
		fence.assertHeld();
		const host = await connect(config, label, options);
		try {
			await raiseFence(host, fence.token);
		} catch (error) {
			await host.close();
			throw error;
		}
		return fencedHost(host, fence);
	};
}
/** Throws a FencedError if a machine has seen a higher token, and a HostError if one is unreachable. */
async function raiseFences(testbed, fence, connect) {
	const raise = fencedConnect(connect, fence);
	const failure = (await Promise.allSettled(rolesOf(testbed).map(async ({ config, label }) => (await raise(config, label)).close()))).find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
}
/** Time limit for all generators together, as the DUT waits for them. */
const checkSeconds = 20;
/** Checks the token on the generators: every lease holder uses them, while the DUT may hang. */
async function checkGenerators(deps, testbed, lease) {
	const signal = AbortSignal.timeout(checkSeconds * 1e3);
	await Promise.all(generatorsOf(testbed).map(async ({ config, label }) => {
		try {
			await using host = await deps.connect(config, label, { signal });
			await fencedHost(host, lease).output(shell`:`, { signal });
		} catch (error) {
			if (!(error instanceof HostError)) throw error;
		}
	}));
}

export { FencedError, fencedConnect, fencedDeps, raiseFences };