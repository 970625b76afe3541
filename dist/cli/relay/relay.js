import { applyOverrides, loadConfig, selectorCalled, selectorsOf, testbedsFor } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { readSecret } from "../../config/plain.js";
import { openPhabricator, phabricatorOf, whoami, withPatience } from "../../forge/phabricator.js";
import { ConduitError, isOfToken } from "../../forge/phabricator/plain.js";
import { UsageError, exitCodes, realPause } from "../../model/first-plain.js";
import { inboxIn, openBell, openInbox, openStarter, pollOnce, startRelayServer, waitingText, workOn, workOnce } from "../../relay.js";
import { seldomLog } from "../../relay/plain.js";
import { configPath } from "../find-config.js";
const { mkdir } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/relay/relay.ts
async function run(options, { signal }) {
	const deps = await openDeps(options, signal);
	using inbox = deps.inbox;
	const { relay } = deps.config;
	const bell = openBell();
	const secrets = await secretsOf(relay);
	const { host, port: configuredPort } = relay;
	await using server = await startRelayServer({
		host,
		port: configuredPort,
		now: deps.now,
		log: deps.log.info,
		...secrets,
		inbox: {
			countPending: () => inbox.countPending(),
			accept(deliveries) {
				const answers = inbox.accept(deliveries);
				bell.ring();
				return answers;
			}
		}
	});
	deps.log.info(`Listens on ${host}, port ${server.port}.`);
	await workOn(deps, { wait: () => bell.waitFor(10, signal) });
	return exitCodes.pass;
}
async function poll(options, { signal }) {
	const every = secondsIn(options.every ?? "60");
	const deps = await openDeps(options, signal);
	using _inbox = deps.inbox;
	if (options.once) {
		await pollOnce(deps);
		await workOnce(deps);
		return exitCodes.pass;
	}
	const before = () => pollOnce(deps).catch((error) => {
		if (!(error instanceof ConduitError)) throw error;
		deps.log.warn(error.message);
	});
	await workOn(deps, {
		before,
		wait: () => realPause(every, signal)
	});
	return exitCodes.pass;
}
function secondsIn(text) {
	const seconds = Number(text);
	if (Number.isInteger(seconds) && seconds >= 10 && seconds <= 3600) return seconds;
	throw new UsageError(`--every: expected a whole number of seconds from 10 to 3600, found "${text}".`);
}
async function openDeps(options, signal) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const phabricator = phabricatorOf(config);
	const { relay } = phabricator;
	const now = () => /* @__PURE__ */ new Date();
	const log = seldomLogs(now);
	const conduit = await openPhabricator(phabricator, {
		log: { info: log.retries },
		signal
	});
	const mayWait = (error) => !isOfToken(error);
	const me = await whoami(options.once ? conduit : withPatience(conduit, {
		log,
		signal,
		mayWait
	}));
	const starter = await openStarter(relay, { configPath: path });
	await mkdir(relay.directory, { recursive: true });
	const inbox = openInbox(inboxIn(relay.directory), now);
	log.info(`Logged in as ${me.name} on ${conduit.url}.`);
	const waiting = inbox.waitingAnswers(conduit.url);
	if (waiting.length > 0) log.info(`${waitingText(waiting, now())} on ${conduit.url}.`);
	return {
		conduit,
		config: phabricator,
		me: me.phid,
		inbox,
		starter,
		now,
		log,
		signal,
		check: (overrides) => checkOverrides(config, overrides)
	};
}
function checkOverrides(config, { testbed, ...texts }) {
	const configuredPort = applyOverrides(config, texts, namingStyles.comment);
	for (const selector of selectorsOf(configuredPort, testbed ? { testbed } : {}, namingStyles.comment)) testbedsFor(configuredPort, selector, selectorCalled({ testbed }, namingStyles.comment));
}
async function secretsOf({ webhookKeyPath, buildPasswordPath }) {
	if (webhookKeyPath === void 0 && buildPasswordPath === void 0) throw new UsageError("ppsgate.yml has neither `phabricator.relay.webhookKeyFile` nor `buildPasswordFile`, so no request could be verified: write one there, or use ppsgate poll.");
	const read = (what, path) => readSecret({
		what,
		path
	});
	return {
		...webhookKeyPath && { webhookKey: await read("The key of the webhook", webhookKeyPath) },
		...buildPasswordPath && { buildPassword: await read("The user and password of builds", buildPasswordPath) }
	};
}
const seldomLogs = (now) => ({
	info: log.info,
	warn: seldomLog(log.warn, now),
	retries: seldomLog(log.info, now)
});
const log = {
	info: (sentence) => process.stdout.write(`${(/* @__PURE__ */ new Date()).toISOString()} ${sentence}\n`),
	warn: (sentence) => process.stdout.write(`${(/* @__PURE__ */ new Date()).toISOString()} warning: ${sentence}\n`)
};

export { poll, run };