import { UsageError, driversOf, excerpt } from "./words.js";
import { didYouMean, isFulfilled, isOnThisMachine, parseEach, readWish, systemOf, whyUnfit } from "./config.js";
import { outlooksOf } from "./reservation.js";
import { SocketAddress, isIPv6 } from "node:net";
import { hostname } from "node:os";

// src/inventory/wishes.ts
/**
* Names of the testbeds that are asked for and can carry the configuration, in its order; at least one. An empty wish
* is for the first testbed, and a name for its own. Throws a `UsageError` where there is none.
*/
function testbedsFor(config, wish = "") {
	const asked = askedFor(config, wish.trim());
	const fit = asked.filter((name) => whyUnfit(config, name) === void 0);
	if (fit.length > 0) return fit;
	const [first] = asked;
	const unfit = first === void 0 ? void 0 : whyUnfit(config, first);
	throw new UsageError(unfit ?? nothingLike(config, wish));
}
/** All testbeds that can carry the configuration, in its order. Throws a `UsageError` where there is none. */
function fitFor(config) {
	const fit = Object.keys(config.testbeds).filter((name) => whyUnfit(config, name) === void 0);
	return fit.length > 0 ? fit : testbedsFor(config);
}
function askedFor(config, wish) {
	const names = Object.keys(config.testbeds);
	if (wish === "") return names.slice(0, 1);
	if (names.includes(wish)) return [wish];
	const parsed = parseWish(wish);
	return names.filter((name) => isFulfilled(parsed, describe(config, name)));
}
/** Reads a wish as it is typed; throws a `UsageError` where it is none. */
function parseWish(text) {
	const source = readWish(text);
	if (source.kind === "refused") throw new UsageError(`Wish for a testbed: ${source.message}.`);
	return source.wish;
}
/** The wishes of a patch, each of which is for a testbed of its own: what is asked for, or what is configured. */
function wishesOf(config, { testbed, each }, calledAs) {
	if (testbed) return [testbed];
	return each ? parseEach(each, calledAs("each")) : config.each ?? [""];
}
function describe(config, name) {
	const words = wordsOf(config, name).map((word) => word.toLowerCase());
	return {
		words: new Set(words),
		cores: config.testbeds[name]?.capabilities?.cpu?.cores
	};
}
/** As written in ppsgate.yml. */
function wordsOf(config, name) {
	const testbed = config.testbeds[name];
	if (testbed === void 0) return [];
	const { nic, cpu, labels = [] } = testbed.capabilities ?? {};
	const { drivers, gigabits } = ofIngress(testbed);
	const texts = [
		nic?.vendor,
		nic?.model,
		nic?.driver,
		...drivers,
		cpu?.model
	];
	return [
		name,
		testbed.kind,
		systemOf(config, name),
		...texts.flatMap((text) => text?.match(/[a-z0-9][\w.+-]*/gi) ?? []),
		...[nic?.gigabits, gigabits].flatMap((speed) => speed === void 0 ? [] : [`${speed}G`]),
		...labels
	];
}
function ofIngress(testbed) {
	if (testbed.kind !== "freebsd") return { drivers: [] };
	const { interface: port, gigabits } = testbed.dut.ingress;
	return {
		drivers: driversOf(port),
		gigabits
	};
}
function nothingLike(config, wish) {
	const written = Object.keys(config.testbeds).flatMap((name) => wordsOf(config, name));
	const known = new Map(written.map((word) => [word.toLowerCase(), word]));
	const [hint = ""] = parseWish(wish).flat().flatMap((condition) => condition.kind === "word" && condition.wanted ? [condition.word] : []).filter((word) => !known.has(word) && !/^\d/.test(word)).map((word) => didYouMean(word, [...known.values()])).filter((hint) => hint !== "");
	const words = [...known.values()].join(", ");
	return `No testbed of the configuration is "${excerpt(wish)}": known here are ${words}${hint || "."}`;
}

// src/inventory/machines.ts
/** What a lease of the testbed takes: `host:port`, or `embedded@` and the name of this machine. Builders are shared. */
function machinesOf(testbed, thisMachine = hostname()) {
	if (isOnThisMachine(testbed)) return [`embedded@${thisMachine.toLowerCase()}`];
	const names = rolesOf(testbed).map(({ config: { host, port } }) => `${hostText(host.toLowerCase())}:${port}`);
	return [...new Set(names)];
}
/** The DUT is the first. The embedded testbed has no machines of its own. */
function rolesOf(testbed) {
	switch (testbed.kind) {
		case "embedded-linux":
		case "virtual": return [];
		case "linux": return [
			{
				config: testbed.dut,
				label: "DUT"
			},
			{
				config: testbed.sender,
				label: "sender"
			},
			{
				config: testbed.receiver,
				label: "receiver"
			}
		];
		case "freebsd": return [{
			config: testbed.dut,
			label: "DUT"
		}, ...generatorsOf(testbed)];
	}
}
/** Those around the DUT. */
const generatorsOf = ({ senders, receiver }) => [...senders.map((config, index) => ({
	config,
	label: senders.length === 1 ? "sender" : `sender ${index + 1}`
})), {
	config: receiver,
	label: "receiver"
}];
/** The same however an address of IPv6 is written. */
function hostText(host) {
	if (!host.includes(":")) return host;
	const [address = "", zone] = host.split("%");
	const plain = isIPv6(address) ? new SocketAddress({
		address,
		family: "ipv6"
	}).address : address;
	return zone === void 0 ? `[${plain}]` : `[${plain}%${zone}]`;
}

// src/inventory/same.ts
/**
* What a gate may be measured on: any of these, or where cells are split all of them together. Throws a `UsageError` where
* there is none.
*/
const chosenFor = (config, wish) => config.split === true ? sameAmong(config, wish) : {
	testbeds: testbedsFor(config, wish),
	leftOut: []
};
/**
* The testbeds of a wish that are the same as the first of them; an empty wish is for all of the configuration, and the
* name of one for that one alone. Throws a `UsageError` where else there are no two.
*/
function sameAmong(config, wish = "") {
	const names = wish.trim() === "" ? fitFor(config) : testbedsFor(config, wish);
	const [first = "", ...others] = names;
	if (first === wish.trim()) return {
		testbeds: [first],
		leftOut: []
	};
	const differing = others.flatMap((name) => {
		const what = differenceOf(config.testbeds[first], config.testbeds[name]);
		return what === void 0 ? [] : [{
			name,
			why: notTheSame(name, what, first)
		}];
	});
	const out = new Set(differing.map(({ name }) => name));
	const testbeds = names.filter((name) => !out.has(name));
	const leftOut = differing.map(({ why }) => why);
	if (testbeds.length > 1) return {
		testbeds,
		leftOut
	};
	const why = leftOut.length === 0 ? "No other testbed would do." : leftOut.join(" ");
	throw new UsageError(`Cells cannot be split where only ${first} is to measure: ask without \`split\`, or for a wish that two testbeds fulfil. ${why}`);
}
/** The testbeds over which cells could be split that are measured on the one of this name, itself among them. */
const sameAs = ({ testbeds }, name) => Object.keys(testbeds).filter((other) => differenceOf(testbeds[name], testbeds[other]) === void 0);
const notTheSame = (name, what, first) => `${name} takes no part: not the same as ${first}, by ${what}.`;
/** What is not the same of two testbeds, in a few words; undefined where all is that numbers depend on. */
function differenceOf(one, other) {
	if (one === void 0 || other === void 0) return "configuration";
	const facts = factsOf(other);
	return factsOf(one).find(([, value], index) => facts[index]?.[1] !== value)?.[0];
}
/** Facts as texts to compare. Addresses, power and console may be others: they change no number. */
function factsOf(testbed) {
	const { capabilities } = testbed;
	const shared = [
		["kind", testbed.kind],
		["card", JSON.stringify(capabilities?.nic)],
		["processor", JSON.stringify(capabilities?.cpu)]
	];
	if (testbed.kind !== "freebsd") return shared;
	const { dut, senders, receiver, builder, waive = {} } = testbed;
	const ports = [dut.ingress, dut.egress].map(({ interface: name, ...rest }) => [driversOf(name), rest]);
	const generators = [...senders, receiver].map((generator) => [driversOf(generator.interface), generator.threads]);
	return [
		...shared,
		["ports", JSON.stringify(ports)],
		["generators", JSON.stringify(generators)],
		["boot method", dut.boot.method],
		["kernel", JSON.stringify([builder?.recipe, builder?.relink])],
		["list of waived settings", JSON.stringify(Object.keys(waive).toSorted())]
	];
}

// src/inventory/overview.ts
/** What people read of each state. */
const stateNames = {
	free: "free",
	held: "held",
	quarantine: "in quarantine",
	"left-behind": "left behind"
};
function overviewOf({ testbeds }, lab, usualSeconds, now) {
	const outlooks = outlooksOf(lab, usualSeconds, now);
	return {
		at: now.toISOString(),
		testbeds: Object.entries(testbeds).map(([name, testbed]) => stateOf(name, testbed, lab, usualSeconds)),
		queue: lab.tickets.flatMap((ticket) => {
			const outlook = outlooks.get(ticket.id);
			return outlook === void 0 ? [] : [waitingOf(ticket, outlook)];
		})
	};
}
function stateOf(name, testbed, lab, usualSeconds) {
	const machines = machinesOf(testbed);
	const holding = machines.map((machine) => lab.held.get(machine)).find((one) => one !== void 0);
	const quarantine = lab.quarantines.get(name);
	const left = leftOn(machines, lab);
	return {
		name,
		kind: testbed.kind,
		state: stateName(holding, quarantine, left),
		...holding !== void 0 && { held: heldBy(holding, usualSeconds) },
		...quarantine !== void 0 && { quarantine },
		...left.length > 0 && { leftBy: left.map(({ holder, testbed: used, since }) => ({
			...holder,
			testbed: used,
			since
		})) }
	};
}
function stateName(holding, quarantine, left) {
	if (holding !== void 0) return "held";
	if (quarantine !== void 0) return "quarantine";
	return left.length > 0 ? "left-behind" : "free";
}
/** What a holder uses is left behind only once he is gone. */
function leftOn(machines, { used, held }) {
	const left = machines.flatMap((machine) => {
		const use = used.get(machine);
		return use === void 0 || held.get(machine)?.id === use.id ? [] : [use];
	});
	return [...new Map(left.map((use) => [use.id, use])).values()];
}
function heldBy({ holder, testbed, priority, token, since }, usualSeconds) {
	const end = Date.parse(since) + usualSeconds(testbed) * 1e3;
	return {
		...holder,
		testbed,
		priority,
		token,
		since,
		expectedUntil: new Date(end).toISOString()
	};
}
const waitingOf = ({ holder, priority, wants, since }, outlook) => ({
	...outlook,
	...holder,
	priority,
	wants: [...wants.keys()],
	since
});
/** `gate of #12`, or the purpose alone. */
const aimOf = ({ purpose, patch }) => patch === void 0 ? purpose : `${purpose} of ${patch}`;

export { aimOf, chosenFor, generatorsOf, machinesOf, notTheSame, overviewOf, rolesOf, sameAs, stateNames, testbedsFor, wishesOf };