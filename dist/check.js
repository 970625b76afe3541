import { a as parseKnownHosts, c as PowerError, o as HostError, t as algorithmsFor } from "./known-hosts.js";
import { r as reasonOf } from "./one-line.js";
import { _ as commandText, v as shell } from "./schema.js";
import { readFile } from "node:fs/promises";

// src/testbed/check.ts
/** Takes the steps one by one; a step whose needs are not met is skipped, with the first thing that was wrong. Throws the signal's reason between two steps. */
async function* walk(steps, signal) {
	/** Steps that did not go well, and the step that is to blame. */
	const blamed = /* @__PURE__ */ new Map();
	for (const { what, needs, look } of steps) {
		signal.throwIfAborted();
		const blame = needs.map((need) => blamed.get(need)).find((found) => found !== void 0);
		if (blame !== void 0) {
			blamed.set(what, blame);
			yield skipped(what, `not tried, because of this: ${blame}`);
			continue;
		}
		try {
			for await (const finding of await look()) {
				if (finding.kind === "wrong") blamed.set(what, what);
				yield finding;
			}
		} catch (error) {
			if (!(error instanceof HostError || error instanceof PowerError)) throw error;
			blamed.set(what, what);
			yield wrong(what, error.message, "run this check again once that is mended");
		}
	}
}
const ok = (what, why) => ({
	kind: "ok",
	what,
	why
});
const skipped = (what, why) => ({
	kind: "skipped",
	what,
	why
});
const wrong = (what, why, mend) => ({
	kind: "wrong",
	what,
	why,
	mend
});
/** A command for a person to type. */
const typed = (command) => `\`${unquoted(commandText(command))}\``;
/** Without the quotes that no shell needs. */
const unquoted = (text) => text.replace(/'([\w@%+=:,./-]+)'/g, "$1");
const sshTo = ({ label }) => `ssh to ${label}`;
/** A step that asks one machine. */
function on(machine, what, look) {
	return {
		what,
		needs: [sshTo(machine)],
		look: async () => machine.host === void 0 ? [] : look(machine.host, what)
	};
}
/** No question that is asked here takes longer. */
const limits = { timeoutSeconds: 60 };
const isGood = (outcome) => outcome.kind === "exited" && outcome.code === 0;
const does = async (host, command) => isGood(await host.run(command, limits));
const inGigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
/** Logs in to a machine, and keeps the connection in it. */
function loginStep(machine, connect) {
	const what = sshTo(machine);
	const { label, config } = machine;
	const { user, host, port, privateKeyPath: key } = config;
	return {
		what,
		needs: [],
		async look() {
			try {
				machine.host = await connect(config, label.replace(/^the /, ""));
			} catch (error) {
				if (error instanceof HostError) return [wrong(what, error.message, await mendOfLogin(error, config))];
				const mend = mendOfFile(error, config);
				if (mend === void 0) throw error;
				return [wrong(what, `${reasonOf(error)}.`, mend)];
			}
			const by = key === void 0 ? "a key of the agent" : `the key ${key}`;
			return [ok(what, `${user}@${host}, port ${port}, with ${by}`)];
		}
	};
}
async function mendOfLogin({ kind, cause }, config) {
	switch (kind) {
		case "host-key": return mendOfHostKey(config);
		case "login": return mendOfKey(config, cause !== void 0);
		default: return "switch it on, run `service sshd onestart` at its console, and compare `host` and `port` in ppsgate.yml";
	}
}
async function mendOfHostKey(config) {
	const { host, port, knownHostsPath } = config;
	const text = await readFile(knownHostsPath, "utf8");
	if (algorithmsFor(parseKnownHosts(text).entries, config).length === 0) return scan(config);
	const name = port === 22 ? host : `[${host}]:${port}`;
	return `once you know why the key changed: ${typed(shell`ssh-keygen -R ${name} -f ${knownHostsPath}`)}, and then ${scan(config)}`;
}
/** A key that the machine never saw cannot be read here. */
function mendOfKey({ host, port, user, privateKeyPath }, wasRefused) {
	if (privateKeyPath === void 0) return "`ssh-add -l` has to name a key that is in its authorized_keys; or name a `key` in ppsgate.yml";
	if (!wasRefused) return `take its passphrase away with ${typed(shell`ssh-keygen -p -f ${privateKeyPath}`)}, or leave \`key\` out and let the ssh agent hold it`;
	return `${typed(shell`ssh-copy-id -i ${`${privateKeyPath}.pub`} -p ${port} ${`${user}@${host}`}`)}, with \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
}
/** Undefined where it is no file of ours that cannot be read. */
function mendOfFile(error, config) {
	if (!(error instanceof Error && "path" in error && "code" in error)) return void 0;
	const { knownHostsPath, privateKeyPath } = config;
	const path = [knownHostsPath, privateKeyPath].find((ours) => ours === error.path);
	if (path === void 0) return void 0;
	if (error.code !== "ENOENT") return `see to it that you may read ${path}`;
	if (path === knownHostsPath) return scan(config);
	return `${typed(shell`ssh-keygen -t ed25519 -N ${""} -f ${path}`)}, and append ${path}.pub to its authorized_keys`;
}
const scan = ({ host, port, knownHostsPath }) => `${typed(shell`ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}`)}, and compare the fingerprint with the machine's console`;

export { loginStep as a, skipped as c, unquoted as d, walk as f, limits as i, sshTo as l, inGigabytes as n, ok as o, wrong as p, isGood as r, on as s, does as t, typed as u };