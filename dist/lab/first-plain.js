import { fileReasonOf } from "../model/first-plain.js";
import { HostError, connect } from "../system/host/first-plain.js";
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/lab/map-interfaces.ts
/** Maps names in the files to the testbed's names; omits interfaces that no packet uses. */
function portNames(roles = {}, ports) {
	return new Map(Object.entries(roles).flatMap(([name, role]) => role === "unused" ? [] : [[name, ports[role]]]));
}
/** Returns rules for nft(8), where whole words, quoted strings, and patterns like `eth*` are names. */
const mapNftables = (text, names) => names.size === 0 ? text : text.replaceAll(/#[^\n]*|"([^"]*)"|[\w./-]+\*?|./gs, (token, quoted) => quoted === void 0 ? mapped(token, names) : `"${mapped(quoted, names)}"`);
/** Returns rules of pf.conf(5) or ipfw(8), whose macros quote any text. */
const mapWords = (text, names) => names.size === 0 ? text : text.replaceAll(/#[^\n]*|[\w./-]+\*?|./gs, (token) => mapped(token, names));
/** Returns the rules of a site's own scenarios with the names of a testbed. */
const mapOwnRules = (rules, names) => Object.fromEntries(Object.entries(rules).map(([name, own]) => [name, {
	...own,
	text: mapWords(own.text, names)
}]));
/** Returns the path of a setting below /proc/sys. */
const mapSetting = (path, names) => path.replace(/^(net\/\w+\/(?:conf|neigh)\/)([^/]+)/, (_, folder, name) => folder + (names.get(name) ?? name));
function mapped(word, names) {
	if (!word.endsWith("*")) return names.get(word) ?? word;
	const prefix = word.slice(0, -1);
	const [first, second] = new Set([...names].flatMap(([name, port]) => name.startsWith(prefix) ? port : []));
	if (first === void 0 || prefix === "") return word;
	if (second === void 0) return first;
	const common = [...first].findIndex((letter, index) => letter !== second[index]);
	return common > 0 ? `${first.slice(0, common)}*` : word;
}

// src/lab/connect.ts
/** `label` names the machine to people. Throws a HostError. */
async function connectTo(config, label, options = { keepaliveSeconds: 5 }) {
	const { host, port, user, privateKeyPath, knownHostsPath } = config;
	const name = `${label} (${host}:${port})`;
	const read = (path, kind) => readFile(path, "utf8").catch((error) => {
		throw new HostError(kind, `Cannot log in to ${name}: ${path} cannot be read (${fileReasonOf(error)}).`, { cause: error });
	});
	const knownHosts = await read(knownHostsPath, "host-key");
	const identity = privateKeyPath === void 0 ? { agent: true } : { privateKey: await read(privateKeyPath, "login") };
	return connect({
		host,
		port,
		user,
		knownHosts,
		label,
		...identity
	}, options);
}

export { connectTo, mapNftables, mapOwnRules, mapSetting, mapWords, portNames };