import { shell } from "./host.js";

// src/scenario/freebsd.ts
/** How a scenario is laid on a DUT from which all others were taken away; its files go to `folder`, an absolute path. */
function layScenario(scenario, folder, own = {}) {
	const rules = rulesFor(scenario, own);
	if (rules === void 0) return {
		files: [],
		commands: []
	};
	const path = `${folder}/${scenario}.rules`;
	return {
		files: [{
			path,
			text: rules.text
		}],
		commands: layCommands[rules.firewall](path)
	};
}
/**
* Takes every scenario away, in two rounds, each all at once. A command fails where there is nothing to take: that all is
* gone is proven as `forwarding` is. ipfw is switched off before it is flushed, or its last rule would cut the connection.
*/
const takeAwayCommands = [[
	shell`pfctl -d`,
	shell`sysctl net.inet.ip.fw.enable=0`,
	shell`sysctl net.inet6.ip6.fw.enable=0`
], [shell`pfctl -F all`, shell`ipfw -q -f flush`]];
const firewalls = ["pf", "ipfw"];
/** One accepting rule each, see pf.conf(5) and ipfw(8). */
const usualRules = {
	forwarding: void 0,
	"pf-stateless": {
		firewall: "pf",
		text: "set skip on lo0\npass no state\n",
		printed: "pass all no state",
		keepsStates: false
	},
	"pf-stateful": {
		firewall: "pf",
		text: "set skip on lo0\npass\n",
		printed: "pass all flags S/SA keep state",
		keepsStates: true
	},
	"ipfw-stateless": {
		firewall: "ipfw",
		text: "add 3000 allow ip from any to any\n",
		printed: "03000 allow ip from any to any",
		keepsStates: false
	},
	"ipfw-stateful": {
		firewall: "ipfw",
		text: "add 3000 allow ip from any to any keep-state\n",
		printed: "03000 allow ip from any to any keep-state",
		keepsStates: true
	}
};
/** Undefined where a scenario has none. */
const rulesFor = (scenario, own) => own[scenario] ?? usualRules[scenario];
/** ipfw.ko refuses every packet from the moment it is loaded, unless the kernel's environment says otherwise. */
const layCommands = {
	pf: (path) => [
		shell`kldload -n pf`,
		shell`pfctl -f ${path}`,
		shell`pfctl -e`
	],
	ipfw: (path) => [
		shell`kenv net.inet.ip.fw.default_to_accept=1`,
		shell`kldload -n ipfw`,
		shell`ipfw -q ${path}`,
		shell`sysctl net.inet.ip.fw.enable=1`,
		shell`sysctl net.inet6.ip6.fw.enable=1`
	]
};
/** What is asked for a proof. Those of a firewall that is not loaded fail. */
const proofCommands = {
	pfInfo: shell`pfctl -si`,
	pfRules: shell`pfctl -sr`,
	ipfwEnabled: shell`sysctl -n net.inet.ip.fw.enable`,
	ipfw6Enabled: shell`sysctl -n net.inet6.ip6.fw.enable`,
	ipfwRules: shell`ipfw list`,
	ipfwStates: shell`sysctl -n net.inet.ip.fw.dyn_count`
};
/**
* Whether this scenario, and no other firewall beside it, is in force. With `blast` the outputs are of right
* after one, and a stateful scenario must have made a state for each of its flows: one or two states are those
* of our own connection. ipfw drops a UDP flow's state after 10 s of silence.
*/
function provesScenario(scenario, outputs, { blast, own = {} } = {}) {
	const found = foundIn(outputs);
	const wanted = rulesFor(scenario, own);
	const stranger = firewallsOn(outputs).find((name) => name !== wanted?.firewall);
	if (stranger !== void 0) return notInForce(`${stranger} is enabled`);
	if (wanted === void 0) return { kind: "in-force" };
	const { sees, rules, states } = found[wanted.firewall];
	if (sees !== "everything") {
		const lack = sees === "nothing" ? "enabled" : "enabled for both families";
		return notInForce(`${wanted.firewall} is not ${lack}`);
	}
	if (wanted.printed === void 0 && rules === "") return notInForce(`${wanted.firewall} has no rules`);
	if (wanted.printed !== void 0 && rules !== wanted.printed) return notInForce(`${wanted.firewall} has the rules "${rules}" instead of "${wanted.printed}"`);
	if (blast === void 0 || !wanted.keepsStates || states >= blast.flows) return { kind: "in-force" };
	return notInForce(`${wanted.firewall} has made ${states} of the ${blast.flows} states that the flows need`);
}
/** Those that see packets. */
const firewallsOn = (outputs) => firewalls.filter((name) => foundIn(outputs)[name].sees !== "nothing");
const foundIn = (outputs) => ({
	pf: pfIn(outputs),
	ipfw: ipfwIn(outputs)
});
const notInForce = (reason) => ({
	kind: "not-in-force",
	reason
});
/** Counts all of pf's states that were made since its counters were flushed, as some may have expired. */
function pfIn({ pfInfo = "", pfRules = "" }) {
	return {
		sees: /^Status: Enabled\b/m.test(pfInfo) ? "everything" : "nothing",
		rules: onOneLine(pfRules),
		states: Number(/^[ \t]+inserts[ \t]+(\d+)/m.exec(pfInfo)?.[1] ?? 0)
	};
}
/** A kernel without a family lacks its switch. */
function ipfwIn(outputs) {
	const { ipfwEnabled, ipfw6Enabled, ipfwRules = "", ipfwStates = "0" } = outputs;
	const switches = [ipfwEnabled, ipfw6Enabled].filter((said) => said !== void 0);
	return {
		sees: amount(switches.filter((said) => said.trim() === "1").length, switches.length),
		rules: onOneLine(ipfwRules.replace(lastRule, "").replaceAll(" :default", "")),
		states: Number(ipfwStates)
	};
}
function amount(some, all) {
	if (some === 0) return "nothing";
	return some < all ? "something" : "everything";
}
/** Accepts or refuses what no rule took; ours takes everything. */
const lastRule = /^65535 .*$/m;
const onOneLine = (rules) => rules.split("\n").map((line) => line.trim()).filter(Boolean).join("; ");

// src/scenario/nftables.ts
/** The rules of a scenario, in a table of their own; one accepting rule, as the FreeBSD scenarios have one `pass`. */
function scenarioRules(scenario) {
	switch (scenario) {
		case "forwarding": return "";
		case "nftables-stateless": return forwardChain(["meta l4proto udp accept"]);
		case "nftables-stateful": return forwardChain(["ct state established,related accept", "ct state new accept"]);
	}
}
const forwardChain = (rules) => `table inet ppsgate {
  chain forward {
    type filter hook forward priority filter; policy drop;
${rules.map((rule) => `    ${rule}`).join("\n")}
  }
}
`;

export { firewallsOn, layScenario, proofCommands, provesScenario, scenarioRules, takeAwayCommands };