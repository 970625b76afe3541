import { HostError } from "../../system/host/first-plain.js";
import { shell } from "../../system/shell.js";
import { generatorsOf, rolesOf } from "../first.js";
import { fencedHost, raiseFence } from "./first-plain.js";

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

export { fencedConnect, fencedDeps, raiseFences };