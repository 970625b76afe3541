import { n as seeExample, t as keyName } from "./problem.js";
import { D as excerpt, n as configSchema } from "./schema.js";
import { t as require_dist } from "./dist.js";
import { dirname, isAbsolute, join } from "node:path";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";

// src/config/yaml.ts
var import_dist = require_dist();
/** Refuses more than the library does: duplicate keys, a file that is empty, and one that is too long. Throws nothing. */
function readYaml(text) {
	if (text.length > mostCharacters) return refused(0, `the file has more than ${mostCharacters} characters; check that it is the right one`);
	try {
		return understoodYaml(text);
	} catch {
		return refused(0, "the file nests too deeply, or an alias (*name) in it multiplies or has no anchor; write it out plainly");
	}
}
const mostCharacters = 65536;
function understoodYaml(text) {
	const lines = new import_dist.LineCounter();
	const lineAt = (offset) => lines.linePos(offset).line;
	const document = (0, import_dist.parseDocument)(text, {
		lineCounter: lines,
		prettyErrors: false,
		schema: "core",
		resolveKnownTags: false,
		stringKeys: true,
		uniqueKeys: false
	});
	const [mistake] = [...document.errors, ...document.warnings];
	if (mistake !== void 0) return refused(lineAt(mistake.pos[0]), mistakes[mistake.code] ?? "this is not YAML; mend it");
	const duplicates = duplicateKeys(document, lineAt);
	if (duplicates.length > 0) return {
		kind: "refused",
		problems: duplicates
	};
	const value = document.toJS();
	if (value === null) return refused(0, `the file is empty; ${seeExample}`);
	return {
		kind: "read",
		value,
		lineOf: (path) => lineAt(offsetOf(document, path))
	};
}
const refused = (line, message) => ({
	kind: "refused",
	problems: [{
		line,
		key: "",
		message
	}]
});
const mistakes = {
	BAD_ALIAS: "an alias (*name) has no anchor (&name) before it; write the value out",
	BAD_INDENT: "this line is not indented like its neighbours, or a bracket before it is open; align or close it",
	BAD_SCALAR_START: "a value cannot start with this character; put the value in quotes",
	BLOCK_AS_IMPLICIT_KEY: "this value runs into another key; align the next line with this one, or quote the value if a colon is part of it",
	BLOCK_IN_FLOW: "a comma is missing between the keys in these braces; write one",
	MISSING_CHAR: "a colon, quote or bracket is missing on or before this line; write it",
	MULTILINE_IMPLICIT_KEY: "this line has no key; write `name: value` with a space after the colon",
	MULTIPLE_DOCS: "a second YAML document starts here; keep one",
	NON_STRING_KEY: "a key has to be plain text; write `name: value`",
	RESOURCE_EXHAUSTION: "this nests too deeply; write it out plainly",
	TAB_AS_INDENT: "a tab indents this line; use spaces",
	TAG_RESOLVE_FAILED: "a tag (!name) means nothing here; remove it",
	UNEXPECTED_TOKEN: "a bracket, comma or sign is in the wrong place here; remove it or quote the text"
};
function duplicateKeys(document, lineAt) {
	const problems = [];
	(0, import_dist.visit)(document, { Map: (_, map, ancestors) => {
		const firstLines = /* @__PURE__ */ new Map();
		const parents = ancestors.filter(import_dist.isPair).map((pair) => keyText(pair.key));
		for (const pair of map.items) {
			const key = keyText(pair.key);
			const line = lineAt(startOf(pair.key) ?? 0);
			const firstLine = firstLines.get(key);
			if (firstLine === void 0) firstLines.set(key, line);
			else problems.push(duplicateKey([...parents, key], line, firstLine));
		}
	} });
	return problems;
}
function duplicateKey(path, line, firstLine) {
	const message = `duplicate key \`${excerpt(path.at(-1) ?? "")}\`; it is on line ${firstLine} already`;
	return {
		line,
		key: keyName(path),
		message
	};
}
/** Where the last key or item of the path is written, or as much of the path as there is. */
function offsetOf(document, path) {
	let node = document.contents;
	let offset = startOf(node) ?? 0;
	for (const segment of path) {
		const { at, child } = step((0, import_dist.isAlias)(node) ? node.resolve(document) : node, segment);
		offset = startOf(at) ?? offset;
		node = child;
	}
	return offset;
}
function step(node, segment) {
	if ((0, import_dist.isSeq)(node)) {
		const item = node.items[Number(segment)];
		return {
			at: item,
			child: item
		};
	}
	const pair = (0, import_dist.isMap)(node) && node.items.find(({ key }) => keyText(key) === segment);
	return pair ? {
		at: pair.key,
		child: pair.value
	} : {};
}
const keyText = (key) => (0, import_dist.isScalar)(key) ? String(key.value) : "";
function startOf(node) {
	return (0, import_dist.isScalar)(node) || (0, import_dist.isMap)(node) || (0, import_dist.isSeq)(node) || (0, import_dist.isAlias)(node) ? node.range?.[0] : void 0;
}

// src/config/load.ts
/** A ppsgate.yml that cannot be used; the message has one line a problem, in the order of the file. */
var ConfigError = class extends Error {
	name = "ConfigError";
	problems;
	constructor(path, problems) {
		super(problems.map((problem) => sentence(path, problem)).join("\n"));
		this.problems = problems;
	}
};
/** Reads the file at `path`; throws ConfigError, also where it cannot be read. */
async function loadConfig(path, home = homedir()) {
	return parseConfig(await readText(path), {
		path,
		home
	});
}
/**
* The Config that `text` says; throws ConfigError and nothing else.
* `path` is what problems are reported of; relative paths in the text start at its folder, `~/` at `home`.
*/
function parseConfig(text, { path, home }) {
	const source = readYaml(text);
	if (source.kind === "refused") throw new ConfigError(path, source.problems);
	const parsed = configSchema.safeParse(source.value);
	if (parsed.success) return withPlacedPaths(parsed.data, {
		folder: dirname(path),
		home
	});
	const problems = parsed.error.issues.map((issue) => ({
		line: source.lineOf(issue.path),
		key: keyName(issue.path),
		message: issue.message
	}));
	throw new ConfigError(path, problems.toSorted((a, b) => a.line - b.line));
}
function sentence(path, { line, key, message }) {
	const place = line === 0 ? path : `${path}:${line}`;
	return key === "" ? `${place}: ${message}` : `${place}: ${key}: ${message}`;
}
async function readText(path) {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		throw new ConfigError(path, [{
			line: 0,
			key: "",
			message: whyUnreadable(error)
		}]);
	}
}
function whyUnreadable(error) {
	const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
	return code === "ENOENT" ? `there is no such file; ${seeExample}` : `the file cannot be read (${code}); check that it is a file and that you may read it`;
}
function withPlacedPaths(config, places) {
	const testbeds = Object.entries(config.testbeds).map(([name, testbed]) => [name, placedTestbed(testbed, places)]);
	const { phabricator } = config;
	return {
		...config,
		overlay: placed(config.overlay, places),
		history: placed(config.history, places),
		reservations: placedReservations(config.reservations, places),
		github: placedGithub(config.github, places),
		...phabricator !== void 0 && { phabricator: placedPhabricator(phabricator, places) },
		testbeds: Object.fromEntries(testbeds),
		rules: Object.fromEntries(Object.entries(config.rules).map(([name, rules]) => [name, {
			...rules,
			path: placed(rules.path, places)
		}]))
	};
}
function placedTestbed(testbed, places) {
	if (testbed.kind === "embedded-linux") return testbed;
	if (testbed.kind === "freebsd") {
		const { dut, senders, receiver, builder } = testbed;
		const { power } = dut;
		return {
			...testbed,
			dut: {
				...placedHost(dut, places),
				...power !== void 0 && { power: placedPower(power, places) }
			},
			senders: senders.map((sender) => placedHost(sender, places)),
			receiver: placedHost(receiver, places),
			...builder !== void 0 && { builder: placedHost(builder, places) }
		};
	}
	return {
		...testbed,
		sender: placedHost(testbed.sender, places),
		dut: placedHost(testbed.dut, places),
		receiver: placedHost(testbed.receiver, places)
	};
}
function placedHost(machine, places) {
	const { privateKeyPath, knownHostsPath } = machine;
	return {
		...machine,
		knownHostsPath: placed(knownHostsPath, places),
		...privateKeyPath !== void 0 && { privateKeyPath: placed(privateKeyPath, places) }
	};
}
function placedPower(power, places) {
	if (power.kind === "command") return power;
	const { passwordPath } = power;
	const password = passwordPath === void 0 ? {} : { passwordPath: placed(passwordPath, places) };
	if (power.kind === "ipmi") return {
		...power,
		...password
	};
	const { caPath } = power;
	return {
		...power,
		...password,
		...caPath !== void 0 && { caPath: placed(caPath, places) }
	};
}
function placedReservations(store, places) {
	if (store.store === "sqlite") return {
		...store,
		path: placed(store.path, places)
	};
	const { caPath, certificatePath, keyPath, passwordPath } = store;
	return {
		...store,
		...caPath !== void 0 && { caPath: placed(caPath, places) },
		...certificatePath !== void 0 && { certificatePath: placed(certificatePath, places) },
		...keyPath !== void 0 && { keyPath: placed(keyPath, places) },
		...passwordPath !== void 0 && { passwordPath: placed(passwordPath, places) }
	};
}
function placedGithub(github, places) {
	const { directory } = github.data;
	if (directory === void 0) return github;
	return {
		...github,
		data: {
			...github.data,
			directory: placed(directory, places)
		}
	};
}
function placedPhabricator(phabricator, places) {
	const { relay, tokenPath } = phabricator;
	const { start, webhookKeyPath, buildPasswordPath } = relay;
	return {
		...phabricator,
		...tokenPath !== void 0 && { tokenPath: placed(tokenPath, places) },
		relay: {
			...relay,
			directory: placed(relay.directory, places),
			start: placedStart(start, places),
			...webhookKeyPath !== void 0 && { webhookKeyPath: placed(webhookKeyPath, places) },
			...buildPasswordPath !== void 0 && { buildPasswordPath: placed(buildPasswordPath, places) }
		}
	};
}
function placedStart(start, places) {
	if (start.kind === "here") return {
		...start,
		repository: placed(start.repository, places)
	};
	const { tokenPath } = start;
	return {
		...start,
		...tokenPath !== void 0 && { tokenPath: placed(tokenPath, places) }
	};
}
function placed(path, { folder, home }) {
	if (/^~(\/|$)/.test(path)) return join(home, path.slice(1));
	return isAbsolute(path) ? path : join(folder, path);
}

export { parseConfig as n, loadConfig as t };