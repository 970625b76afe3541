import { isOnThisMachine } from "../../config/first.js";
import { DutLostError } from "../../lab/freebsd/boot/first-plain.js";
import { FencedError } from "../../lab/lease/first-plain.js";
import { fencedConnect, fencedDeps, raiseFences } from "../../lab/lease/first.js";
import { machinesOf } from "../../lab/first.js";
import { PowerError } from "../../lab/power/first-plain.js";
import { UsageError, formatEstimate, notUsed, reasonOf } from "../../model/first-plain.js";
import { HostError } from "../../system/host/first-plain.js";
import { estimateWaits, healthPurpose, readUsualSeconds } from "../estimate/first.js";
import { acquireLease, forgetLease, keepLease, lostOutcome, readLog } from "../reserve/first.js";
import { openProcessesOf, openStore, steadySeconds } from "../reserve/store/first.js";
import { StoreError } from "../reserve/store/first-plain.js";
import { kernelSums, sumsFolder } from "../../kernel/first-plain.js";
import { connectTo } from "../../lab/first-plain.js";
import { imagesFolder } from "../../lab/qemu/first-plain.js";
const { randomBytes } = globalThis.process.getBuiltinModule("node:crypto");
const { homedir, hostname, userInfo } = globalThis.process.getBuiltinModule("node:os");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/gate/testbeds/open-testbed.ts
/** Throws before anything is reserved if this machine lacks a requirement of one of the testbeds. */
async function requireHere(names, { testbeds }) {
	for (const name of names) {
		const testbed = testbeds[name];
		if (!isOnThisMachine(testbed)) continue;
		const { requireLab } = await import("../../lab/netns/requirements.js");
		await requireLab(testbed.kind);
	}
}
/** Starts an embedded testbed; `restore` stops it. Throws a UsageError for an unknown name. */
async function openTestbed(name, traffic, config, { lease, machines }) {
	const testbed = config.testbeds[name];
	switch (testbed?.kind) {
		case "linux": {
			const { openLinuxTestbed } = await import("../../lab/netns/netns-testbed.js");
			return openLinuxTestbed(name, testbed, traffic, fencedConnect(machines.connect, lease));
		}
		case "freebsd": {
			const { openFreebsdTestbed } = await import("../../lab/freebsd/freebsd-testbed.js");
			return openFreebsdTestbed(name, testbed, traffic, fencedDeps(machines, testbed, lease));
		}
		case "embedded-linux":
		case "virtual": return openHere(name, traffic, config, machines);
		case void 0: throw new UsageError(`The configuration has no testbed ${name}.`);
	}
}
/** Starts this machine's testbed once no other process uses it. It needs no lease, as only this machine reaches it. */
async function openHere(name, traffic, { testbeds }, machines = realDeps) {
	const { claimWhenFree } = await import("../../lab/netns/owner.js");
	const { ownerFile } = await import("../../lab/netns/embedded-lab.js");
	await claimWhenFree(ownerFile, machines);
	const testbed = testbeds[name];
	if (testbed?.kind !== "virtual") return openEmbedded(name, traffic, machines.connect);
	const { openVirtualTestbed } = await import("../../lab/qemu/virtual-testbed.js");
	return openVirtualTestbed(name, testbed, traffic, machines);
}
async function openEmbedded(name, traffic, connect = connectTo) {
	const { labDown, labUp } = await import("../../lab/netns/embedded-lab.js");
	const { openLinuxTestbed } = await import("../../lab/netns/netns-testbed.js");
	const embedded = await openLinuxTestbed(name, await labUp(), traffic, connect).catch(async (error) => {
		await labDown();
		throw error;
	});
	return {
		...embedded,
		async restore() {
			await embedded.restore().finally(labDown);
		}
	};
}
const realDeps = {
	connect: connectTo,
	async openPower(machine, config) {
		const { openPower, realPowerDeps } = await import("../../lab/power/power.js");
		return openPower(machine, config, realPowerDeps);
	},
	async openConsole(machine, config, onOutput) {
		const { openConsole, realConsoleDeps } = await import("../../lab/console/console.js");
		return openConsole(machine, config, onOutput, realConsoleDeps);
	},
	sleep: (seconds) => setTimeout(seconds * 1e3),
	now: () => Date.now() / 1e3,
	kernelSums: kernelSums(sumsFolder(process.env, homedir())),
	imagesFolder: imagesFolder(process.env, homedir())
};

// src/gate/testbeds/reserve.ts
async function openReservations(config, { signal, notify, onWait, flightLog }) {
	const { reservations } = config;
	const store = await openStore(reservations);
	const processes = await openProcessesOf(reservations);
	const leaseDeps = async () => {
		const usualSeconds = await readUsualSeconds(store, /* @__PURE__ */ new Date());
		let last = "";
		return {
			store,
			leaseSeconds: reservations.leaseSeconds,
			now: steadySeconds,
			date: () => /* @__PURE__ */ new Date(),
			sleep: async (seconds, until) => setTimeout(seconds * 1e3, void 0, { signal: until }),
			randomId: () => randomBytes(4).toString("hex"),
			processes,
			signal,
			onWait({ lab, ticket }) {
				const estimate = estimateWaits(lab, usualSeconds, /* @__PURE__ */ new Date()).get(ticket.id);
				if (estimate === void 0) return;
				const news = waitText(lab, ticket, {
					place: estimate.place,
					of: estimate.of
				});
				if (news !== last) onWait(estimate, waitText(lab, ticket, estimate));
				last = news;
			}
		};
	};
	return {
		store,
		async hold(name, request) {
			const testbed = config.testbeds[name];
			const testbeds = new Map(testbed === void 0 ? [] : [[name, machinesOf(testbed)]]);
			return acquireLease({
				...request,
				testbeds
			}, await leaseDeps());
		},
		async reserve(names, request, directory) {
			const machines = flightLog?.wrap(realDeps) ?? realDeps;
			const reserved = await reserveTestbed(names, request, config, {
				...await leaseDeps(),
				machines,
				notify
			});
			if (directory === void 0) return reserved;
			await keepLease(directory, reserved.lease, reservations);
			return {
				...reserved,
				async giveBack(outcome) {
					const trouble = await reserved.giveBack(outcome);
					await forgetLease(directory);
					return trouble;
				}
			};
		},
		[Symbol.asyncDispose]: () => store.close()
	};
}
/**
* Waits for one of the testbeds and prepares it: installs the lease on its machines, and restores the base if the last
* holder died. Quarantines a testbed that cannot be prepared, and waits on from the same place. Leaves out a
* misconfigured one. Throws like `acquireLease`, and a MisconfiguredError if none is left.
*/
async function reserveTestbed(names, request, config, deps) {
	const testbeds = new Map(names.flatMap((name) => {
		const testbed = config.testbeds[name];
		return testbed === void 0 ? [] : [[name, machinesOf(testbed)]];
	}));
	if (testbeds.size === 0) throw new UsageError(`The configuration has no testbed ${names.join(" or ")}.`);
	let order;
	for (;;) {
		const lease = await acquireLease({
			...request,
			testbeds
		}, deps, order);
		order = lease.holding.order;
		const readying = await readied(lease, config, deps).catch(async (error) => {
			const isClean = lease.holding.leftBy.length === 0;
			await lease.release({
				outcome: notUsed(reasonOf(error)),
				isClean
			});
			if (error instanceof MisconfiguredError && testbeds.size > 1) return error;
			throw error;
		});
		if (readying instanceof MisconfiguredError) {
			deps.notify(`Continuing without ${lease.testbed}: ${readying.message}`);
			testbeds.delete(lease.testbed);
			continue;
		}
		if (readying === void 0) return leased(lease, config, deps);
		deps.notify(inQuarantine(lease.testbed, readying));
		await lease.release({
			outcome: notUsed(readying),
			isClean: false,
			quarantine: quarantineFor(readying, deps)
		});
	}
}
/** Reports a fault of the configuration or this machine; the testbed stays free for others. */
var MisconfiguredError = class extends UsageError {};
/** Returns the reason if the testbed cannot be used. Throws a MisconfiguredError. */
async function readied(lease, config, deps) {
	const testbed = config.testbeds[lease.testbed];
	const { leftBy } = lease.holding;
	if (testbed === void 0) return "it is not in the configuration";
	try {
		if (leftBy.length === 0) {
			await raiseFences(testbed, lease, deps.machines.connect);
			return;
		}
		const whose = leftBy.map(({ holder }) => holder.who).join(" and ");
		deps.notify(`Restoring ${lease.testbed} to its base: ${whose} did not.`);
		await restoreBase(testbed, lease, config, deps);
		return await troubleOf(testbed, deps);
	} catch (error) {
		deps.signal.throwIfAborted();
		lease.signal.throwIfAborted();
		if (error instanceof HostError && await isMisconfigured(error, lease, deps.store)) {
			const look = `\`ppsgate testbeds check ${lease.testbed}\` shows details`;
			throw new MisconfiguredError(`${reasonOf(error)} No testbed was quarantined; ${look}.`, { cause: error });
		}
		if (error instanceof HostError ? !isOfController(error.kind) : [
			DutLostError,
			PowerError,
			FencedError
		].some((kind) => error instanceof kind)) return reasonOf(error);
		throw error;
	}
}
/** A machine that never replied probably has a wrong address. A health check only reports it. */
async function isMisconfigured({ kind, cause }, { testbed, holding }, store) {
	if (holding.holder.purpose === "health") return false;
	if (isOfController(kind)) return true;
	if (kind !== "unreachable" || holding.leftBy.length > 0) return false;
	if (cause instanceof Error && "code" in cause && cause.code === "ENOTFOUND") return true;
	const uses = (await readLog(store)).filter((one) => one.testbed === testbed);
	const hasAnswered = ({ holder, outcome = lostOutcome }) => outcome !== "it was not renewed in time" && !outcome.startsWith(notUsed("")) && holder.purpose !== "health";
	return !uses.some(hasAnswered);
}
/** Recognizes a wrong key or known_hosts. */
const isOfController = (kind) => kind === "login" || kind === "login-refused" || kind === "host-key";
/** Each login raises the fence. The DUT may not be up yet. */
async function restoreBase(testbed, lease, config, deps) {
	if (isOnThisMachine(testbed)) return;
	if (testbed.kind === "freebsd") {
		const machines = fencedDeps(deps.machines, testbed, lease);
		const { wakeFreebsdTestbed } = await import("../../lab/freebsd/freebsd-testbed.js");
		await wakeFreebsdTestbed(lease.testbed, testbed, machines);
	}
	await (await openLeased(lease, config.traffic, config, deps)).restore();
}
/** Checks a testbed without changing it. Returns the trouble found. */
async function troubleOf(testbed, { machines, notify }) {
	const signal = new AbortController().signal;
	const { healthOf, whyUnhealthy } = await import("../../lab/check/health.js");
	return whyUnhealthy(await Array.fromAsync(healthOf(testbed, {
		...machines,
		notify,
		signal
	})));
}
function openLeased(lease, traffic, config, deps) {
	const { machines, notify } = deps;
	const signal = AbortSignal.any([deps.signal, lease.signal]);
	return openTestbed(lease.testbed, traffic, config, {
		lease,
		machines: {
			...machines,
			notify,
			signal
		}
	});
}
function leased(lease, config, deps) {
	let notRestored;
	return {
		name: lease.testbed,
		signal: lease.signal,
		lease,
		depsOf: (testbed) => fencedDeps(deps.machines, testbed, lease),
		async open(traffic) {
			const testbed = await openLeased(lease, traffic, config, deps);
			return {
				...testbed,
				async restore() {
					await testbed.restore().catch((error) => {
						notRestored = reasonOf(error);
					});
				}
			};
		},
		async giveBack(outcome) {
			const testbed = config.testbeds[lease.testbed];
			if (lease.signal.aborted || testbed === void 0) return void 0;
			try {
				const trouble = notRestored ?? await troubleOf(testbed, deps);
				const quarantine = trouble === void 0 ? void 0 : quarantineFor(trouble, deps);
				await lease.release({
					outcome,
					isClean: trouble === void 0,
					quarantine
				});
				return trouble === void 0 ? void 0 : inQuarantine(lease.testbed, trouble);
			} catch (error) {
				if (!(error instanceof StoreError)) throw error;
				return `${lease.testbed} becomes free only after ${deps.leaseSeconds} s: ${error.message}`;
			}
		}
	};
}
const inQuarantine = (testbed, trouble) => `${testbed} is now in quarantine: ${trouble} Once it is fixed, lift the quarantine with \`ppsgate quarantine ${testbed} --lift\`.`;
/** Marks automatic quarantines; a check may lift only these. */
const ppsgateItself = "ppsgate";
const quarantineFor = (reason, { date }) => ({
	reason,
	by: ppsgateItself,
	since: date().toISOString()
});
/** User and host of this process: `alice@lab1`. In a container, the user may have no name. */
function whoami() {
	try {
		return `${userInfo().username}@${hostname()}`;
	} catch {
		return `user ${process.getuid?.()}@${hostname()}`;
	}
}
/** `waiting for hp-t540 or rcc-ve: 2 of 3 in line, about 40 min; hp-t540 is held by alice@lab1 (#12)`. */
function waitText(lab, ticket, estimate) {
	const { place, of, expectedSeconds } = estimate;
	const wait = expectedSeconds === void 0 ? "" : `, ${formatEstimate(expectedSeconds)}`;
	const machines = new Set([...ticket.wants.values()].flat());
	const rivals = [...lab.held.values()].filter((holding) => holding.machines.some((machine) => machines.has(machine)));
	const holders = new Map(rivals.map(({ testbed, holder: { who, patch, purpose } }) => [testbed, `${testbed} is held by ${who} (${patch ?? purpose})`]));
	return [`waiting for ${[...ticket.wants.keys()].join(" or ")}: ${place} of ${of} in line${wait}`, ...holders.values()].join("; ");
}

export { MisconfiguredError, openHere, openReservations, ppsgateItself, realDeps, requireHere, whoami };