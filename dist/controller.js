import { UsageError, armName, expectedly, notUsed, plainLine, reasonOf } from "./words.js";
import { isOnThisMachine } from "./config.js";
import { baseOf, isEnd, mayShareBase, packedEntry, packedLog, readOffer } from "./experiment.js";
import { labDown, labUp, requireLab } from "./linux-lab.js";
import { FencedError, HostError } from "./host.js";
import { StoreError, forgetLease, keepLease, openStore, outlookOf, readUsualSeconds, reserve, steadySeconds, takeAboard } from "./reservation.js";
import { machinesOf } from "./inventory.js";
import { kernelSums, sumsFolder } from "./build.js";
import { PowerError, openPower, realPowerWorld } from "./power.js";
import { openConsole, realConsoleWorld } from "./console.js";
import { connectTo, fencedConnect, fencedWorld, openFreebsdTestbed, openLinuxTestbed, openVirtualTestbed, raiseFences, wakeFreebsdTestbed } from "./testbed.js";
import { DutLostError } from "./dut.js";
import { healthOf, whyUnhealthy } from "./checkup.js";
import { recordedTestbed } from "./recording.js";
import { randomBytes } from "node:crypto";
import { homedir, hostname, userInfo } from "node:os";
import { setTimeout } from "node:timers/promises";

// src/controller/open.ts
/** Throws before anything is reserved where this machine lacks what one of the testbeds needs of it. */
async function requireHere(names, { testbeds }) {
	for (const name of names) {
		const testbed = testbeds[name];
		if (isOnThisMachine(testbed)) await requireLab(testbed.kind);
	}
}
/**
* Connects to a testbed of the configuration; an embedded one is brought up first, and taken down by `restore`. Throws a
* UsageError where the configuration has none of this name.
*/
async function openTestbed(name, traffic, config, { lease, machines }) {
	const testbed = config.testbeds[name];
	switch (testbed?.kind) {
		case "linux": return openLinuxTestbed(name, testbed, traffic, fencedConnect(machines.connect, lease));
		case "freebsd": return openFreebsdTestbed(name, testbed, traffic, fencedWorld(machines, testbed, lease));
		case "embedded-linux":
		case "virtual": return openHere(name, traffic, config, machines);
		case void 0: throw new UsageError(`The configuration has no testbed ${name}.`);
	}
}
/** Makes a testbed of this machine. Nobody else reaches it, so it knows no leases: one process has it. */
async function openHere(name, traffic, { testbeds }, machines = realWorld) {
	const testbed = testbeds[name];
	return testbed?.kind === "virtual" ? openVirtualTestbed(name, testbed, traffic, machines) : openEmbedded(name, traffic);
}
async function openEmbedded(name, traffic) {
	const lab = await labUp();
	const embedded = await openLinuxTestbed(name, lab, traffic).catch(async (error) => {
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
const realWorld = {
	connect: connectTo,
	openPower: (machine, config) => openPower(machine, config, realPowerWorld),
	openConsole: (machine, config, hears) => openConsole(machine, config, hears, realConsoleWorld),
	sleep: (seconds) => setTimeout(seconds * 1e3),
	now: () => Date.now() / 1e3,
	kernelSums: kernelSums(sumsFolder(process.env, homedir()))
};

// src/controller/company.ts
/** At most `most` patches are measured at a time, our own among them; undefined where it has to be measured by itself. */
function companyOf(lease, plan, most, world) {
	const base = baseOf(plan);
	if (base === void 0) return void 0;
	let guests = [];
	let numbers = 1;
	/** Whoever could not be told what was measured for it is not asked again. */
	const deaf = /* @__PURE__ */ new Set();
	return { async joined() {
		guests = guests.filter(({ isOver, arm }) => !isOver && !arm.signal.aborted);
		const room = most - 1 - guests.length;
		const joining = [];
		for (const one of await boarding(lease, {
			base,
			most: room,
			except: deaf
		}, world)) {
			const offer = offerOf(one);
			if (offer === void 0 || !mayShareBase(plan, offer.plan)) {
				deaf.add(one.id);
				await one.putAshore().catch(() => {});
				continue;
			}
			numbers += 1;
			const name = armName(numbers);
			const whose = plainLine(one.holder.patch ?? one.holder.who, mostNameCharacters);
			world.tell(`Measured together with this patch, as ${name}: ${whose}.`);
			joining.push(guestOf(name, one, offer, deaf));
		}
		guests.push(...joining);
		return joining.map(({ arm }) => arm);
	} };
}
/** The names of other processes are their own, and longer than a line of a log should be. */
const mostNameCharacters = 80;
/** A store that cannot be asked now is asked again after the next blast. */
async function boarding(...wanted) {
	try {
		return await takeAboard(...wanted);
	} catch (error) {
		if (error instanceof StoreError) return [];
		throw error;
	}
}
function offerOf({ text }) {
	try {
		return readOffer(text);
	} catch {
		return;
	}
}
function guestOf(name, one, { plan, entries }, deaf) {
	/** Whoever cannot be told waits for the testbed again. */
	const orAshore = async (telling) => {
		await telling.catch(async (error) => {
			deaf.add(one.id);
			await one.putAshore().catch(() => {});
			throw error;
		});
	};
	const guest = {
		arm: {
			name,
			plan,
			journal: {
				entries,
				async append(entry) {
					await orAshore(one.send(packedEntry(entry)).then(one.kept));
					entries.push(entry);
					guest.isOver ||= isEnd(entry);
				}
			},
			keepLogIn: (folder) => async (log, content) => {
				for (const item of packedLog(folder, log, content)) await orAshore(one.send(item));
			},
			onEvent() {},
			signal: one.signal
		},
		isOver: false
	};
	return guest;
}

// src/controller/reserve.ts
async function reserveTestbed(names, request, config, world, passenger) {
	const wanted = names.flatMap((name) => {
		const testbed = config.testbeds[name];
		return testbed === void 0 ? [] : [[name, machinesOf(testbed)]];
	});
	if (wanted.length === 0) throw new UsageError(`The configuration has no testbed ${names.join(" or ")}.`);
	let order;
	for (;;) {
		const bound = passenger?.boundTo();
		const testbeds = new Map(wanted.filter(([name]) => bound === void 0 || name === bound));
		const lease = await reserve({
			...request,
			testbeds
		}, world, order, passenger);
		if (lease === void 0) return void 0;
		const trouble = await readied(lease, config, world).catch(async (error) => {
			const isClean = lease.holding.leftBy.length === 0;
			await lease.release({
				outcome: notUsed(reasonOf(error)),
				isClean
			});
			throw error;
		});
		if (trouble === void 0) return leased(lease, config, world);
		world.tell(inQuarantine(lease.testbed, trouble));
		await lease.release({
			outcome: notUsed(trouble),
			isClean: false,
			quarantine: quarantineFor(trouble, world)
		});
		order = lease.holding.order;
	}
}
/** Answers why the testbed cannot be used. */
async function readied(lease, config, world) {
	const testbed = config.testbeds[lease.testbed];
	const { leftBy } = lease.holding;
	if (testbed === void 0) return "it is not in the configuration";
	try {
		if (leftBy.length === 0) {
			await raiseFences(testbed, lease, world.machines.connect);
			return;
		}
		const whose = leftBy.map(({ holder }) => holder.who).join(" and ");
		world.tell(`Bringing ${lease.testbed} back to its base: ${whose} did not.`);
		await bringBack(testbed, lease, config, world);
		return await troubleOf(testbed, world);
	} catch (error) {
		world.signal.throwIfAborted();
		lease.signal.throwIfAborted();
		if (isOfTheMachines(error)) return reasonOf(error);
		throw error;
	}
}
/** Each login raises the fence, and the DUT may not be up yet. */
async function bringBack(testbed, lease, config, world) {
	if (isOnThisMachine(testbed)) return;
	if (testbed.kind === "freebsd") {
		const machines = fencedWorld(world.machines, testbed, lease);
		await wakeFreebsdTestbed(lease.testbed, testbed, machines);
	}
	await (await openLeased(lease, config.traffic, config, world)).restore();
}
/** And not of this controller alone, whose key or known_hosts may be the wrong ones. */
const isOfTheMachines = (error) => error instanceof HostError ? !["login", "host-key"].includes(error.kind) : [
	DutLostError,
	PowerError,
	FencedError
].some((kind) => error instanceof kind);
/** Looks at a testbed and changes nothing on it; answers what is wrong. */
async function troubleOf(testbed, { machines, tell }) {
	const signal = new AbortController().signal;
	return whyUnhealthy(await Array.fromAsync(healthOf(testbed, {
		...machines,
		tell,
		signal
	})));
}
function openLeased(lease, traffic, config, { machines, recorder }) {
	const { testbed: name, token } = lease;
	const testbed = config.testbeds[name];
	const open = () => openTestbed(name, traffic, config, {
		lease,
		machines
	});
	if (recorder === void 0 || testbed?.kind !== "freebsd") return open();
	return recordedTestbed(recorder, {
		name,
		testbed,
		traffic,
		token
	}, open);
}
function leased(lease, config, world) {
	let notRestored;
	return {
		name: lease.testbed,
		signal: lease.signal,
		lease,
		worldOf: (testbed) => fencedWorld(world.machines, testbed, lease),
		async open(traffic) {
			const testbed = await openLeased(lease, traffic, config, world);
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
				const trouble = notRestored ?? await troubleOf(testbed, world);
				const quarantine = trouble === void 0 ? void 0 : quarantineFor(trouble, world);
				await lease.release({
					outcome,
					isClean: trouble === void 0,
					quarantine
				});
				return trouble === void 0 ? void 0 : inQuarantine(lease.testbed, trouble);
			} catch (error) {
				if (!(error instanceof StoreError)) throw error;
				return `${lease.testbed} is free only after ${world.leaseSeconds} s: ${error.message}`;
			}
		}
	};
}
const inQuarantine = (testbed, trouble) => `${testbed} is in quarantine now: ${trouble} Once it is mended, lift it with \`ppsgate quarantine ${testbed} --lift\`.`;
/** Who puts testbeds into quarantine that fail, and alone may be contradicted by a look. */
const byItself = "ppsgate";
const quarantineFor = (reason, { date }) => ({
	reason,
	by: byItself,
	since: date().toISOString()
});

// src/controller/reservations.ts
/** Throws a StoreError where the store cannot be used. */
async function openReservations(config, { signal, tell, onWait, recorder }) {
	const { reservations } = config;
	const store = await openStore(reservations);
	const leaseWorld = async () => {
		const usualSeconds = await readUsualSeconds(store, /* @__PURE__ */ new Date());
		let last = "";
		return {
			store,
			leaseSeconds: reservations.leaseSeconds,
			now: steadySeconds,
			date: () => /* @__PURE__ */ new Date(),
			sleep: async (seconds, until) => setTimeout(seconds * 1e3, void 0, { signal: until }),
			randomId: () => randomBytes(4).toString("hex"),
			signal,
			onWait({ lab, ticket }) {
				const outlook = outlookOf(lab, ticket, usualSeconds, /* @__PURE__ */ new Date());
				const news = waitText(lab, ticket, {
					place: outlook.place,
					of: outlook.of
				});
				if (news !== last) onWait(outlook, waitText(lab, ticket, outlook));
				last = news;
			}
		};
	};
	const reserveWorld = async () => {
		const machines = recorder?.world(realWorld) ?? realWorld;
		return {
			...await leaseWorld(),
			machines,
			recorder,
			tell
		};
	};
	/** The lease lies in the directory until the testbed is given back. */
	const kept = async (reserved, directory) => {
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
	};
	return {
		store,
		async hold(name, request) {
			const testbed = config.testbeds[name];
			const testbeds = new Map(testbed === void 0 ? [] : [[name, machinesOf(testbed)]]);
			return reserve({
				...request,
				testbeds
			}, await leaseWorld());
		},
		async reserve(names, request, directory) {
			return kept(await reserveTestbed(names, request, config, await reserveWorld()), directory);
		},
		async board(names, request, gatePassenger, directory) {
			const { mostTogether = 1, store } = reservations;
			const passenger = {
				...gatePassenger,
				offers: () => gatePassenger.offers(store === "etcd")
			};
			const world = await reserveWorld();
			const reserved = await reserveTestbed(names, request, config, world, passenger);
			if (reserved === void 0) return void 0;
			const { lease } = reserved;
			return {
				...await kept(reserved, directory),
				company: (plan) => companyOf(lease, plan, mostTogether, world)
			};
		},
		[Symbol.asyncDispose]: () => store.close()
	};
}
/** `alice@lab1`: who runs this process, and where. */
const whoami = () => `${userName()}@${hostname()}`;
/** A container may run as a user that it has no name for. */
function userName() {
	try {
		return userInfo().username;
	} catch {
		return `user ${process.getuid?.()}`;
	}
}
/** `waiting for hp-t540 or rcc-ve: 2 of 3 in line, some 40 min; hp-t540 is held by alice@lab1 (#12)`. */
function waitText(lab, ticket, outlook) {
	const { place, of, expectedSeconds } = outlook;
	const wait = expectedSeconds === void 0 ? "" : `, ${expectedly(expectedSeconds)}`;
	const machines = new Set([...ticket.wants.values()].flat());
	const rivals = [...lab.held.values()].filter((holding) => holding.machines.some((machine) => machines.has(machine)));
	const holders = new Map(rivals.map(({ testbed, holder: { who, patch, purpose } }) => [testbed, `${testbed} is held by ${who} (${patch ?? purpose})`]));
	return [`waiting for ${[...ticket.wants.keys()].join(" or ")}: ${place} of ${of} in line${wait}`, ...holders.values()].join("; ");
}

// src/controller/work-directory.ts
/** `ppsgate-demo-20261120-231655`, in the current directory. */
function timestampedDirectory(prefix, now = /* @__PURE__ */ new Date()) {
	const digits = now.toISOString().replace(/\D/g, "");
	return `${prefix}-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}

export { byItself, openHere, openReservations, realWorld, requireHere, timestampedDirectory, whoami };