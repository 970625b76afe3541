import { HostError } from "../../../system/host/first-plain.js";
import { shell } from "../../../system/shell.js";

// src/lab/freebsd/dut/slices.ts
const attributes = {
	MBR: "active",
	GPT: "bootme"
};
/** Throws if fstab and the table disagree. */
async function nextRoot(host) {
	const slices = await slicesOf(host);
	const expected = slices.providers.get(slices.root);
	const [active, ...more] = slices.active;
	if (active === expected && more.length === 0) return slices.root;
	const marked = slices.active.join(" and ") || "none";
	throw refusal(host, `/etc/fstab has its root on ${slices.root} (${expected}), and ${attributes[slices.scheme]} on ${slices.disk} is ${marked}`, "check `gpart show -p` there, and make one slice active manually");
}
/** Throws for any disk but an appliance's, as BSDRP installs it. */
async function slicesOf(host) {
	const fstab = await host.output(shell`cat /etc/fstab`);
	const root = fstab.split("\n").map(fieldsOf).find(([, path]) => path === "/")?.[0];
	if (root === void 0) throw noAppliance(host, "/etc/fstab names no root");
	const providers = providersOf(await host.output(shell`glabel status -s`));
	const [, disk] = /^([a-z]+\d+)[ps]\d+$/.exec(providers.get(root) ?? "") ?? [];
	if (disk === void 0) throw noAppliance(host, `glabel(8) shows no slice labelled as its root, ${root}`);
	const table = readTable(await host.output(shell`gpart show -p ${disk}`));
	if (table === void 0) throw noAppliance(host, `${disk} has neither an MBR nor a GPT with known attributes`);
	return {
		disk,
		root,
		fstab,
		providers,
		...table
	};
}
const fieldsOf = (line) => line.trim().split(/\s+/);
/** Reads `gpt/BSDRP1  N/A  ada0p3`; in a slice with partitions, the first is the root. */
const providersOf = (status) => new Map(status.split("\n").map(fieldsOf).flatMap(([label, , provider]) => provider === void 0 ? [] : [[`/dev/${label}`, provider.replace(/(s\d+)a$/, "$1")]]));
/** Reads `=> 40 31277152 ada0 GPT (15G)`, and rows like `3223 4194304 ada0p3 freebsd-ufs [bootme] (2.0G)`. */
function readTable(text) {
	const [, scheme] = /^=>\s+\d+\s+\d+\s+\S+\s+(\S+)/m.exec(text) ?? [];
	if (scheme !== "MBR" && scheme !== "GPT") return void 0;
	const marks = [...text.matchAll(/^ +\d+ +\d+ +(\S+) .*\[([^\]]*)\]/gm)].map(([, provider = "", words = ""]) => ({
		provider,
		words: words.split(",")
	}));
	return marks.every(({ words }) => words.every((word) => word === attributes[scheme])) ? {
		scheme,
		active: marks.map(({ provider }) => provider)
	} : void 0;
}
const noAppliance = (host, why) => refusal(host, why, "it is not an appliance built by nanobsd(8) or poudriere-image(8), so choose another boot method");
const refusal = (host, why, fix) => new HostError("command-failed", `${host.name} would boot an unknown system: ${why}; ${fix}.`);

export { fieldsOf, nextRoot, slicesOf };