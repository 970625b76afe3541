import { t as loadConfig } from "./load.js";
import { C as object, E as string, T as record, k as unknown, m as array, y as int } from "./scenario.js";
import { i as exitCodes } from "./exit.js";
import { i as readSecret, n as phabricatorOf, r as tokenVariable, t as openPhabricator } from "./phabricator-login.js";
import { r as reasonOf } from "./one-line.js";
import { n as mapOf, t as ConduitError } from "./conduit.js";
import { c as skipped, o as ok, p as wrong, u as typed } from "./check.js";
import { v as shell } from "./schema.js";
import { r as openRepository } from "./repository.js";
import { t as configPath } from "./named-testbed.js";
import { a as print, i as oneLine, r as hasColours } from "./table.js";
import { createHmac } from "node:crypto";
import { stat } from "node:fs/promises";

// src/relay/check-point.ts
const warning = (what, why, mend) => ({
	kind: "warning",
	what,
	why,
	mend
});
const unreachable = (what, why, mend) => ({
	kind: "unreachable",
	what,
	why,
	mend
});

// src/relay/check-secret.ts
/** @param key of ppsgate.yml that names the file. */
const secretPoint = (key, place) => ({
	what: key,
	async look(what) {
		await readSecret(place);
		const { path, variable } = place;
		return path === void 0 ? [ok(what, `${variable} in the environment`)] : keeping(what, path);
	}
});
async function keeping(what, path) {
	const mode = (await stat(path)).mode & 511;
	const mend = typed(shell`chmod 600 ${path}`);
	const found = `${path} has the mode ${mode.toString(8)}`;
	if (mode & 7) return [wrong(what, `${found}, so all on this machine can get at it`, mend)];
	if (mode & 56) return [warning(what, `${found}, so its group can get at it`, mend)];
	return [ok(what, `${path} is for its owner alone`)];
}

// src/relay/check-relay.ts
function relayPoints(config, world) {
	const { relay } = config;
	const { webhookKeyPath, buildPasswordPath } = relay;
	if (webhookKeyPath === void 0 && buildPasswordPath === void 0) {
		const why = "neither `relay.webhookKeyFile` nor `relay.buildPasswordFile` is set: use `ppsgate poll`";
		return [{
			what: "the relay",
			look: async (what) => [skipped(what, why)]
		}];
	}
	const ask = askOf(relay, world.signal);
	return [
		{
			what: "relay.on",
			look: async (what) => occasions(what, relay)
		},
		{
			what: "the relay",
			look: (what) => health(what, relay, ask)
		},
		...webhookKeyPath === void 0 ? [] : webhookPoints(webhookKeyPath, config, ask),
		...buildPasswordPath === void 0 ? [] : buildPoints(buildPasswordPath, ask)
	];
}
function occasions(what, { on, buildPasswordPath, webhookKeyPath }) {
	if (buildPasswordPath !== void 0 && on.includes("builds") && on.includes("diffs")) return [warning(what, "builds and diffs are both measured, so a diff that comes both ways is begun by itself and then once more for its build", "leave `diffs` out, or `builds`")];
	if (webhookKeyPath === void 0 && (on.includes("diffs") || on.includes("comments"))) return [warning(what, "without `relay.webhookKeyFile` only `ppsgate poll` hears of diffs and comments", "set it, or run `ppsgate poll` beside the relay")];
	return [ok(what, `what is measured: ${on.join(", ")}`)];
}
const mostSeconds$1 = 10;
const askOf = (relay, signal) => async (path, init) => {
	const timeout = AbortSignal.timeout(mostSeconds$1 * 1e3);
	const response = await fetch(`${baseOf(relay)}${path}`, {
		...init,
		redirect: "manual",
		signal: AbortSignal.any([signal, timeout])
	});
	return {
		status: response.status,
		text: await response.text()
	};
};
/** From this machine; what listens on all addresses does so on loopback. */
function baseOf({ host, port }) {
	const near = {
		"0.0.0.0": "127.0.0.1",
		"::": "::1"
	}[host] ?? host;
	return `http://${near.includes(":") ? `[${near}]` : near}:${port}`;
}
async function health(what, relay, ask) {
	const base = baseOf(relay);
	let reply;
	try {
		reply = await ask("/health", {});
	} catch (error) {
		const cause = error instanceof Error ? error.cause ?? error : error;
		const why = `nothing answers on ${base} (${reasonOf(cause)})`;
		return [unreachable(what, why, "start `ppsgate relay`, and see what it says")];
	}
	if (reply.status === 200 && /^\d+ pending$/m.test(reply.text)) return [ok(what, `it answers on ${base}, with ${reply.text.trim()}`)];
	return [wrong(what, `something else answers on ${base}, with ${reply.status}`, "end that, or set another `relay.port` in ppsgate.yml and start the relay again")];
}
const restart = "start the relay again, for it reads its files at its start";
function webhookPoints(path, { url }, ask) {
	const place = {
		what: "The key of the webhook",
		path
	};
	return [
		secretPoint("relay.webhookKeyFile", place),
		{
			what: "POST /webhook",
			needs: ["the relay"],
			async look(what) {
				const signed = (signature) => ask("/webhook", {
					method: "POST",
					body: testWebhook,
					headers: { "x-phabricator-webhook-signature": signature }
				});
				const strange = await signed("0".repeat(64));
				if (strange.status !== 401) return [open$1(what, "a wrong signature", strange)];
				const key = await readSecret(place).catch(() => void 0);
				if (key === void 0) return [ok(what, "a wrong signature is refused")];
				const ours = await signed(createHmac("sha256", key).update(testWebhook).digest("hex"));
				if (ours.status === 200) return [ok(what, "none but a right signature is taken")];
				const why = `the relay answers ${ours.status} to what is signed with the key of ${path}`;
				return [wrong(what, why, restart)];
			}
		},
		{
			what: "the webhook",
			look: async (what) => [skipped(what, `only its page tells: ${url}/herald/webhook/ has to show one for this relay, enabled, with the key of ${path}`)]
		}
	];
}
/** Sent by hand, says Herald by `test`, and so of no consequence. */
const testWebhook = JSON.stringify({
	object: {
		type: "DREV",
		phid: "PHID-DREV-ppsgatecheck"
	},
	triggers: [],
	action: {
		test: true,
		silent: false,
		secure: false,
		epoch: 0
	},
	transactions: []
});
function buildPoints(path, ask) {
	const place = {
		what: "The user and password of builds",
		path
	};
	return [secretPoint("relay.buildPasswordFile", place), {
		what: "POST /build",
		needs: ["the relay"],
		async look(what) {
			const strange = await ask("/build", { method: "POST" });
			if (strange.status !== 401) return [open$1(what, "no password", strange)];
			const password = await readSecret(place).catch(() => void 0);
			if (password === void 0) return [ok(what, "no password is refused")];
			if (!/^[^:]+:./.test(password)) {
				const mend = `write a user, a colon and a password into ${path}, the same as in Passphrase`;
				return [wrong(what, `${path} does not have the form user:password`, mend)];
			}
			const ours = await ask("/build", {
				method: "POST",
				headers: { authorization: `Basic ${Buffer.from(password).toString("base64")}` }
			});
			if (ours.status === 400) return [ok(what, "none but the right user and password is taken")];
			const why = `the relay answers ${ours.status} to the user and password of ${path}`;
			return [wrong(what, why, restart)];
		}
	}];
}
/** What was to be refused was not. */
function open$1(what, given, { status }) {
	if (status === 404) return wrong(what, "the relay that runs does not take these, as one without the file in ppsgate.yml", restart);
	const why = `the relay answers ${status} to ${given}, and not 401`;
	return wrong(what, why, "see that nothing stands between that answers for it");
}

// src/relay/check-starter.ts
/** @param branch what diffs without a base are measured against. */
function starterPoint(start, branch, now) {
	switch (start.kind) {
		case "here": return {
			what: "relay.start.repository",
			look: (what) => clone(what, start.repository, branch, now())
		};
		case "github": {
			const place = {
				what: "The token for GitHub",
				path: start.tokenPath
			};
			return secretPoint("relay.start.tokenFile", {
				...place,
				variable: "GITHUB_TOKEN"
			});
		}
		case "jenkins": {
			const place = {
				what: "The token for Jenkins",
				path: start.tokenPath
			};
			return secretPoint("relay.start.tokenFile", {
				...place,
				variable: "PPSGATE_JENKINS_TOKEN"
			});
		}
	}
}
async function clone(what, path, branch, now) {
	const repository = openRepository(path);
	if (!await repository.resolve("HEAD").then(() => true, () => false)) {
		const mend = `name a clone, or make one with ${typed(shell`git clone ${"https://git.freebsd.org/src.git"} ${path}`)}`;
		return [wrong(what, `${path} is no git repository with a commit`, mend)];
	}
	const tip = await repository.commitAt(branch, now).catch(() => void 0);
	if (tip === void 0) return [wrong(what, `${path} has no branch ${branch}`, "write the branch that revisions are made for as `phabricator.branch`")];
	return [ok(what, `${path} has ${branch}, at ${tip.slice(0, 12)}`)];
}

// src/relay/check.ts
/** One that cannot be looked at says why, and the others are looked at all the same. Throws the signal's reason. */
async function* checkPhabricator(config, world) {
	/** Points that did not go well, and the point that is to blame. */
	const blamed = /* @__PURE__ */ new Map();
	for (const { what, needs = [], look } of pointsOf(config, world)) {
		world.signal.throwIfAborted();
		const blame = needs.map((need) => blamed.get(need)).find((found) => found !== void 0);
		if (blame !== void 0) {
			blamed.set(what, blame);
			yield skipped(what, `not tried, because of this: ${blame}`);
			continue;
		}
		world.onLook(what);
		const findings = await look(what).catch((error) => [failed(what, error)]);
		world.signal.throwIfAborted();
		if (findings.some(({ kind }) => kind === "wrong" || kind === "unreachable")) blamed.set(what, what);
		yield* findings;
	}
}
function failed(what, error) {
	return {
		kind: error instanceof ConduitError && error.kind !== "refused" ? "unreachable" : "wrong",
		what,
		why: reasonOf(error),
		mend: "run this check again once that is mended"
	};
}
function pointsOf(config, world) {
	const session = {};
	const { tokenPath, relay } = config;
	const ask = (what, look) => ({
		what,
		needs: ["the token"],
		look: async () => session.conduit === void 0 ? [] : look(session.conduit, what)
	});
	return [
		{
			what: "the server",
			look: (what) => server(what, config, session, world)
		},
		{
			what: "the clocks",
			needs: ["the server"],
			look: async (what) => clocks(what, session, world.now())
		},
		secretPoint("tokenFile", {
			what: "The Conduit token",
			path: tokenPath,
			variable: tokenVariable
		}),
		{
			what: "the token",
			needs: ["the server"],
			look: (what) => token(what, config, session, world)
		},
		{
			what: "the account",
			needs: ["the token"],
			look: async (what) => session.account === void 0 ? [] : rights(what, session.account, config)
		},
		ask("repositories", (conduit, what) => repositories(what, conduit, config)),
		ask("projects", (conduit, what) => projects(what, conduit, config)),
		ask("people", (conduit, what) => people(what, conduit, config)),
		ask("build plans", (conduit, what) => buildPlans(what, conduit, config)),
		{
			what: "writing",
			needs: ["the token"],
			look: async (what) => [skipped(what, unwritten)]
		},
		...relayPoints(config, world),
		starterPoint(relay.start, config.branch, world.now)
	];
}
const unwritten = "nothing is written here, so a server in read-only mode shows only when it is to take a comment";
const mostSeconds = 20;
/** Without the token: nobody knows yet who answers. */
async function server(what, { url }, session, { signal }) {
	const timeout = AbortSignal.timeout(mostSeconds * 1e3);
	let response;
	let text;
	try {
		response = await fetch(`${url}/api/conduit.ping`, {
			method: "POST",
			body: new URLSearchParams({ params: "{}" }),
			redirect: "manual",
			signal: AbortSignal.any([signal, timeout])
		});
		text = await response.text();
	} catch (error) {
		const cause = error instanceof Error ? error.cause ?? error : error;
		const why = `${url} does not answer (${reasonOf(cause)})`;
		return [unreachable(what, why, "see whether `url` in ppsgate.yml is right, and the server up")];
	}
	const { status, headers } = response;
	if (status >= 300 && status < 400) {
		const why = `${url} sends us on to ${headers.get("location") ?? "nowhere"}`;
		return [wrong(what, why, "write the address that the server has now as `url` in ppsgate.yml")];
	}
	if (status === 429 || status >= 500) {
		const why = `${url} answers ${status}`;
		return [unreachable(what, why, "try later, or see whether it knows the name in `url`")];
	}
	if (!envelope.safeParse(fromJson(text)).success) {
		const why = `${url} answers ${status} and ${headers.get("content-type") ?? "something"}, which is not Conduit’s JSON`;
		return [wrong(what, why, "write the address of a Phabricator as `url` in ppsgate.yml, without a path")];
	}
	const date = headers.get("date");
	if (date !== null) session.date = new Date(date);
	return [ok(what, `${url} answers as a Phabricator does`)];
}
const envelope = object({
	result: unknown(),
	error_code: string().nullable()
});
function fromJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/** Beyond this somebody who compares a log with a comment is misled. */
const mostSecondsApart = 60;
function clocks(what, { date }, now) {
	if (date === void 0) return [skipped(what, "the server does not tell its time")];
	const seconds = Math.round((date.getTime() - now.getTime()) / 1e3);
	if (Math.abs(seconds) <= mostSecondsApart) return [ok(what, `the server’s and ours are at most ${mostSecondsApart} s apart`)];
	const why = `the server’s is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} ours`;
	return [warning(what, why, "let NTP set both: polls go by the server’s, and our logs by ours")];
}
const account = object({
	userName: string(),
	roles: array(string())
});
async function token(what, config, session, world) {
	session.conduit = await openPhabricator(config, world);
	session.account = await session.conduit.call("user.whoami", {}, account);
	return [ok(what, `it is that of ${session.account.userName}`)];
}
function rights(what, { userName, roles }, { url }) {
	if (roles.includes("admin")) {
		const mend = `make a bot on ${url}/people/new/bot/, and give ppsgate its token`;
		return [wrong(what, `${userName} is an administrator, and whoever has its token is one too`, mend)];
	}
	if (!roles.includes("agent")) {
		const mend = `make a bot on ${url}/people/new/bot/, which nobody can log in to`;
		return [warning(what, `${userName} is the account of a person, for whom ppsgate would speak`, mend)];
	}
	return [ok(what, `${userName} is a bot and no administrator`)];
}
const repositoryItem = object({ fields: object({
	callsign: string().nullable(),
	shortName: string().nullable(),
	policy: object({ edit: string() })
}) });
async function repositories(what, conduit, { repositories: names }) {
	if (names === void 0) return [ok(what, "none are named, so revisions of any are measured, and of none")];
	const search = (constraints) => conduit.search("diffusion.repository.search", { constraints }, repositoryItem);
	const found = [...await search({ callsigns: names }), ...await search({ shortNames: names })];
	return names.map((name) => {
		const one = found.find(({ fields }) => [fields.callsign, fields.shortName].includes(name));
		if (one !== void 0) return ok(what, `${name} is there, and may be edited by "${one.fields.policy.edit}"`);
		return wrong(what, `there is no ${name}, or not for the bot to see`, lookAt(what));
	});
}
const lookAt = (key) => `correct \`phabricator.${key}\` in ppsgate.yml, or let the bot see it`;
const projectPage = object({
	data: array(object({
		phid: string(),
		attachments: object({ members: object({ members: array(unknown()) }) })
	})),
	/** By hashtag. */
	maps: object({ slugMap: mapOf(object({ projectPHID: string() })) })
});
async function projects(what, conduit, { projects: slugs, people }) {
	if (slugs.length === 0 && people.length === 0) return [wrong(what, "nobody may have anything measured: `projects` and `people` are empty", "name a project or somebody under `phabricator` in ppsgate.yml")];
	if (slugs.length === 0) return [ok(what, "none are named: leave is for `people` alone")];
	const params = {
		constraints: { slugs },
		attachments: { members: true }
	};
	const { data, maps } = await conduit.call("project.search", params, projectPage);
	return slugs.map((slug) => {
		const found = data.find(({ phid }) => phid === maps.slugMap[slug]?.projectPHID);
		if (found === void 0) return wrong(what, `there is no #${slug}, or not for the bot to see`, lookAt(what));
		const count = found.attachments.members.members.length;
		if (count === 0) return warning(what, `#${slug} has no members for the bot to see`, "add those who may have revisions measured, or let the bot see them");
		return ok(what, `#${slug} has ${count} ${count === 1 ? "member" : "members"}`);
	});
}
const userItem = object({ fields: object({
	username: string(),
	roles: array(string())
}) });
async function people(what, conduit, { people: names }) {
	if (names.length === 0) return [ok(what, "none are named: leave is for `projects` alone")];
	const constraints = { usernames: names };
	const found = await conduit.search("user.search", { constraints }, userItem);
	return names.map((name) => {
		const one = found.find(({ fields }) => fields.username === name);
		if (one === void 0) return wrong(what, `there is nobody called ${name}`, lookAt(what));
		if (one.fields.roles.includes("disabled")) return warning(what, `the account of ${name} is disabled`, "take the name out of `phabricator.people` in ppsgate.yml");
		return ok(what, `${name} is there`);
	});
}
const planItem = object({
	id: int(),
	phid: string(),
	fields: object({
		name: string(),
		status: object({ value: string() }),
		behaviors: record(string(), object({ value: string() }))
	})
});
const stepItem = object({ fields: object({
	name: string(),
	buildPlanPHID: string()
}) });
/** Where the HTTP step of a plan leads to, only its page tells: ours is the one with our name. */
async function buildPlans(what, conduit, { url, relay }) {
	const plans = await conduit.search("harbormaster.buildplan.search", {}, planItem);
	const steps = await conduit.search("harbormaster.step.search", {}, stepItem);
	const ours = plans.filter(({ phid, fields }) => {
		const stepNames = steps.filter((step) => step.fields.buildPlanPHID === phid).map((step) => step.fields.name);
		return [fields.name, ...stepNames].some((name) => /ppsgate/i.test(name)) && fields.status.value === "active";
	});
	if (!(relay.buildPasswordPath !== void 0 && relay.on.includes("builds"))) return ours.length === 0 ? [skipped(what, "builds are not taken, and there is no plan called ppsgate")] : ours.map(({ fields }) => notTaken(what, fields.name));
	if (ours.length === 0) return [warning(what, "there is none called ppsgate, or not for the bot to see", "call yours ppsgate and let the bot see it, or leave `relay.buildPasswordFile` out")];
	return ours.flatMap(({ id, fields: { name, behaviors } }) => {
		const page = `${url}/harbormaster/plan/${id}/`;
		const holds = behaviors["hold-drafts"]?.value ?? "always";
		return [holds === "never" ? ok(what, `"${name}" does not hold drafts`) : warning(what, `"${name}" holds drafts (${holds}), so those pass at once, and only comments tell their results`, `set "Hold Drafts" to "Never" on ${page}`), skipped("the build step", `only its page tells the URI: ${page} has to show POST to …${buildQuery}, the user and password of \`relay.buildPasswordFile\` as credential, nothing secret beside, and that it waits for a message`)];
	});
}
/** As the relay reads it. */
const buildQuery = "/build?target=${target.phid}&build=${build.phid}&diff=${buildable.diff}&revision=${buildable.revision}";
const notTaken = (what, plan) => wrong(what, `"${plan}" asks for builds, and none are taken, so they fail or wait for ever`, "set `relay.buildPasswordFile` and have `builds` in `relay.on`, or disable the plan");

// src/commands/run-phabricator-check.ts
/** Prints each finding as it is made, or with `json` all of them at the end. */
async function checkSetUp({ config: path, json }, signal) {
	const phabricator = phabricatorOf(await loadConfig(configPath(path)));
	const tell = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
	const patience = tellIfSlow(tell);
	const world = {
		signal,
		now: () => /* @__PURE__ */ new Date(),
		log: { info: tell },
		onLook: patience.begin
	};
	const findings = [];
	try {
		for await (const finding of checkPhabricator(phabricator, world)) {
			patience.end();
			findings.push(finding);
			if (!json) print(findingText(finding, process.stdout));
		}
	} finally {
		patience.end();
	}
	print(json ? JSON.stringify({
		phabricator: phabricator.url,
		findings
	}, null, 2) : summary(findings));
	return exitCodeOf(findings);
}
const patienceSeconds = 2;
function tellIfSlow(tell) {
	let timer;
	const end = () => clearTimeout(timer);
	return {
		begin(what) {
			end();
			timer = setTimeout(() => tell(`looking at ${what}`), patienceSeconds * 1e3);
		},
		end
	};
}
const signs = {
	ok: "✔",
	warning: "!",
	wrong: "✘",
	unreachable: "✘",
	skipped: "–"
};
/** Of ECMA-48's select graphic rendition: green, yellow, red, red, faint. */
const colours = {
	ok: 32,
	warning: 33,
	wrong: 31,
	unreachable: 31,
	skipped: 2
};
const longestWord = 11;
/** `✘ WHAT: WHY`, or off a terminal `wrong WHAT: WHY`; what mends it is on a line of its own. */
function findingText(finding, output) {
	const { kind, what, why } = finding;
	const plain = output.isTTY ? signs[kind] : kind.padEnd(longestWord);
	const line = `${hasColours(output) ? `\x1b[${colours[kind]}m${plain}\x1b[0m` : plain} ${oneLine(`${what}: ${why}`)}`;
	return "mend" in finding ? `${line}\n    mend: ${oneLine(finding.mend)}` : line;
}
/** `All is well.`, or how much is not. */
function summary(findings) {
	const faults = findings.filter(isFault).length;
	const warnings = findings.filter(({ kind }) => kind === "warning").length;
	const wrong = {
		0: "Nothing is wrong",
		1: "One thing is wrong"
	}[faults] ?? `${faults} things are wrong`;
	if (warnings === 0) return faults === 0 ? "All is well." : `${wrong}.`;
	return `${wrong}; ${warnings === 1 ? "one thing is" : `${warnings} things are`} worth a look.`;
}
const isFault = ({ kind }) => kind === "wrong" || kind === "unreachable";
/** What is wrong in ppsgate.yml or on the server stays so, and weighs more than what may answer later. */
function exitCodeOf(findings) {
	const kinds = new Set(findings.map(({ kind }) => kind));
	if (kinds.has("wrong")) return exitCodes.usage;
	return kinds.has("unreachable") ? exitCodes.infrastructure : exitCodes.pass;
}

export { checkSetUp };