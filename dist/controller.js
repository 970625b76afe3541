import { expectedly } from "./stats.js";
import { forgetLease, keepLease, openStore, outlookOf, readUsualSeconds, reserve, steadySeconds } from "./reservation.js";
import { machinesOf } from "./testbed/inventory.js";
import { realWorld, reserveTestbed } from "./testbed.js";
import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { setTimeout } from "node:timers/promises";

// src/controller.ts
/** Throws a StoreError where the store cannot be used. */
async function openReservations(config, { signal, tell, onWait }) {
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
			const world = {
				...await leaseWorld(),
				machines: realWorld,
				tell
			};
			const reserved = await reserveTestbed(names, request, config, world);
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

export { openReservations, whoami };