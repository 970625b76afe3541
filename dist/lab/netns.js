import { formatPercent, formatPps, isLinuxScenario, lastLine, packagesOf, pathName, realPause, reasonOf, shortened, total } from "../model.js";
import { object } from "../vendor/zod.js";
import { frameBytesFor } from "../config.js";
import { isSteady, median, steadyStretch } from "../analysis/stats.js";
import { ProfileError, foldedLines, foreignBounds, parseProfile, samplesOf, withoutIdle } from "../analysis/profile.js";
import { checkNotOpen } from "../kernel.js";
import { HostError, connect as connect$1, requirePrograms, shell, stdoutOf } from "../system/host.js";
import { arrivalsAround, droppedBy, limitsInLinuxLog, linuxDut, parseObservation, withEnds } from "./linux.js";
import { parseTrafgenLog, senderCommand, senderScript, trafgenFlows } from "./traffic.js";
import { once } from "node:events";
import { execFile, spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { statSync } from "node:fs";
import { isDeepStrictEqual, promisify } from "node:util";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { access, constants as constants$2, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { availableParallelism, release } from "node:os";
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

// src/system/sqlite.ts
/** The file belongs to another program, or has another `format`. */
var ForeignFileError = class extends Error {
	format;
	constructor(format) {
		super("another SQLite file than was asked for");
		this.format = format;
	}
};
/**
* Opens a file with this header. `fill` creates the tables of an empty file; without it, an empty file is foreign.
* Commits survive a power cut. `blockingMilliseconds` limits how long a call blocks this process while another one
* locks the file. Throws a ForeignFileError, or SQLite's error.
*/
function openDatabase(path, header, blockingMilliseconds, fill) {
	const database = new DatabaseSync(path, { timeout: blockingMilliseconds });
	try {
		if (isEmpty(database, header)) {
			if (fill === void 0) throw new ForeignFileError();
			fill(database);
		}
		database.exec("PRAGMA synchronous = FULL");
		return database;
	} catch (error) {
		database.close();
		throw error;
	}
}
/** False for a file with this header. Throws a ForeignFileError for any other one. */
function isEmpty(database, { applicationId, format }) {
	const { id, version, tables } = database.prepare(`SELECT application_id AS id, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`).get() ?? {};
	if (id === applicationId && version === format) return false;
	if (id === applicationId) throw new ForeignFileError(Number(version));
	if (id === 0 && version === 0 && tables === 0) return true;
	throw new ForeignFileError();
}
function watchPlace(path) {
	const opened = statSync(path);
	return () => {
		const { ino, dev } = statSync(path, { throwIfNoEntry: false }) ?? {};
		return ino === opened.ino && dev === opened.dev;
	};
}
const isSqliteError = (error) => error instanceof Error && "errcode" in error && typeof error.errcode === "number";
/** Codes: sqlite.org/rescode.html. */
function failureOf({ errcode }) {
	return errcode === sharedMemorySize ? "full" : failures.get(errcode & 255) ?? "other";
}
const failures = /* @__PURE__ */ new Map([
	[5, "busy"],
	[8, "read-only"],
	[10, "input-output"],
	[11, "corrupt"],
	[13, "full"],
	[14, "cannot-open"],
	[26, "not-a-database"]
]);
/** Processes share memory through a file, which must be able to grow. */
const sharedMemorySize = 4874;
/** Keeps locks referenced: garbage collection would close the database, and so release its lock. */
const locks$1 = /* @__PURE__ */ new Set();
/**
* Returns undefined while another process has the lock. The file stays, as a lock on a removed file excludes no
* process. Throws an ExposedPlaceError for a file that any user may write, and so lock.
*/
function lockIfFree(path) {
	checkNotOpen(path);
	const lock = new DatabaseSync(path, { timeout: 0 });
	try {
		lock.exec("BEGIN EXCLUSIVE");
	} catch (error) {
		lock.close();
		if (isSqliteError(error) && failureOf(error) === "busy") return void 0;
		throw error;
	}
	locks$1.add(lock);
	return { [Symbol.dispose]() {
		if (locks$1.delete(lock)) lock.close();
	} };
}

// src/lab/netns/owner.ts
const locks = /* @__PURE__ */ new Map();
/** Makes this process the owner, and writes its id to the file. Throws a LabInUseError if another process is. */
async function claim(path) {
	if (await isClaimed(path)) return;
	throw new LabInUseError(`The lab of this machine is in use by process ${await ownerOf(path)}: run this again once that has ended; a gate, a demo or a check waits for it.`);
}
/** Waits until no other process owns the lab, then makes this one the owner. Throws once `signal` is aborted. */
async function claimWhenFree(path, { notify, signal = new AbortController().signal, pause = realPause }) {
	let told;
	while (!await isClaimed(path)) {
		const owner = await ownerOf(path);
		if (owner !== told) notify?.(`waiting for the lab of this machine ${forOperator(owner)}`);
		told = owner;
		await pause(secondsBetweenTries, signal);
		signal.throwIfAborted();
	}
}
const secondsBetweenTries = 2;
/** Omitted in reports to authors. */
const forOperator = (owner) => `(process ${owner} uses it; Ctrl-C stops waiting)`;
const withoutOperatorsPart = (line) => line.replace(/ \(process [^()]* uses it; Ctrl-C stops waiting\)/, "");
/** `4711 of ppsgate demo`. */
async function ownerOf(path) {
	const pid = await readFile(path, "utf8").catch(() => "");
	if (!/^\d{1,10}$/.test(pid)) return "of another user";
	return [pid, ...commandIn((await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0"))].join(" of ");
}
/** Names of a command and a subcommand, without its options and their values. */
function commandIn(words) {
	const program = words.findIndex((word) => /(?:^|\/)(?:ppsgate|cli\.[jt]s)$/.test(word));
	if (program === -1) return [];
	const [first = "", second = ""] = words.slice(program + 1);
	const isName = (word) => /^[a-z][a-z-]{0,30}$/.test(word);
	return [["ppsgate", ...isName(first) ? [first, ...isName(second) ? [second] : []] : []].join(" ")];
}
async function isClaimed(path) {
	if (locks.has(path)) return true;
	await mkdir(dirname(path), { recursive: true });
	const lock = lockIfFree(`${path}.lock`);
	if (lock === void 0) return false;
	locks.set(path, lock);
	await writeFile(path, String(process.pid));
	return true;
}
async function disclaim(path) {
	const lock = locks.get(path);
	if (lock === void 0) return;
	await rm(path, { force: true });
	locks.delete(path);
	lock[Symbol.dispose]();
}
var LabInUseError = class extends Error {};

// src/lab/netns/requirements.ts
const run$1 = promisify(execFile);
/** Git supplies the patch. A virtual lab needs some programs for its guests, others to build their files. */
const labPrograms = {
	"embedded-linux": [...[
		"nft",
		"trafgen",
		"sshd",
		"ssh-keygen",
		"ethtool",
		"ip",
		"sysctl",
		"unshare"
	], "git"],
	virtual: [
		...[
			"bash",
			"busybox",
			"chrt",
			"cpio",
			"dpkg-deb",
			"flock",
			"gcc",
			"git",
			"ip"
		],
		...[
			"kmod",
			"nft",
			"qemu-system-x86_64",
			"ssh-keygen",
			"sshd",
			"sysctl",
			"taskset"
		],
		...[
			"trafgen",
			"unshare",
			"xz",
			"zstd"
		]
	]
};
/** This machine cannot run the lab. The message names the missing permission and the fix. */
var LabImpossibleError = class extends Error {
	name = "LabImpossibleError";
};
/**
* Prepares this machine for the lab, with sudo and apt if needed. Returns an exit code if the same program has just run
* as root and done the work; undefined if this process may continue.
*/
async function readyMachine(say, kinds = ["embedded-linux"]) {
	const exitCode = await rerunAsRoot();
	if (exitCode !== void 0) return exitCode;
	requireRoot();
	const missing = await missingPrograms(kinds.flatMap((kind) => labPrograms[kind]));
	if (missing.length > 0) await installPackages(packagesOf(missing), say);
	await requireNamespaces();
	if (kinds.includes("embedded-linux") && !await isInstalled("perf")) await installPerf(say);
}
/** Packages of perf(1): Debian has one for all kernels, Ubuntu one for each. */
const perfPackages = ["linux-perf", `linux-tools-${release()}`];
/** Optional: without it, verdicts have no profiles. */
async function installPerf(say) {
	if (!await isInstalled("apt-get")) return;
	for (const name of perfPackages) {
		say(`Installing with apt-get, for profiles: ${name}`);
		if (await aptGet([
			"install",
			"--yes",
			"--no-install-recommends",
			name
		])) return;
	}
	say("perf is not to be had here, so there will be no profiles.");
}
/** Throws a LabImpossibleError if this process cannot run the lab. Installs nothing. */
async function requireLab(kind = "embedded-linux", programs = labPrograms[kind]) {
	requireRoot();
	const missing = await missingPrograms(programs);
	if (missing.length === 0) return requireNamespaces();
	const install = `apt-get install ${packagesOf(missing).join(" ")}`;
	throw new LabImpossibleError(`${needing[kind]} ${missing.join(" and ")}, which this machine lacks: run '${install}', or '${demos[kind]}', which does.`);
}
const needing = {
	"embedded-linux": "The embedded lab needs",
	virtual: "A virtual testbed needs"
};
const demos = {
	"embedded-linux": "ppsgate demo",
	virtual: "ppsgate demo --kernels"
};
function requireRoot() {
	if (process.platform !== "linux") throw new LabImpossibleError(`The embedded lab needs Linux for its network namespaces, and this is ${process.platform}: run it on a Linux machine.`);
	if (process.getuid?.() !== 0) throw new LabImpossibleError("The embedded lab needs root, to make network namespaces and to pin the forwarding thread: run it again as root or with sudo.");
}
async function requireNamespaces() {
	await run$1("unshare", ["--net", "true"]).catch((error) => {
		if (typeof error.code === "string") throw error;
		throw new LabImpossibleError("The embedded lab needs the right to make network namespaces (CAP_SYS_ADMIN), which this root lacks: run it outside the container, or in a privileged one.");
	});
}
/** Returns the exit code of this program under sudo; undefined for root, or without sudo. */
async function rerunAsRoot() {
	if (process.getuid?.() === 0 || !await isInstalled("sudo")) return void 0;
	if (await sudo("--validate") !== 0) throw new LabImpossibleError("The embedded lab needs root, and sudo did not give it: run it again as root.");
	const { execPath, execArgv, argv } = process;
	return sudo("--preserve-env", "--", execPath, ...execArgv, ...argv.slice(1));
}
/** Returns the exit code of the program or of sudo. May prompt for a password. */
async function sudo(...args) {
	const child = spawn("sudo", args, { stdio: "inherit" });
	const [code] = await once(child, "close");
	return code ?? 1;
}
async function installPackages(names, say) {
	if (!await isInstalled("apt-get")) throw new LabImpossibleError(`The embedded lab needs ${names.join(", ")} and finds no apt-get to install them: install what your system calls them.`);
	say(`Installing with apt-get: ${names.join(", ")}`);
	const install = [
		"install",
		"--yes",
		"--no-install-recommends",
		...names
	];
	if (await aptGet(install)) return;
	if (await aptGet(["update"]) && await aptGet(install)) return;
	throw new LabImpossibleError(`apt-get could not install ${names.join(", ")}: run 'apt-get install ${names.join(" ")}' and see what it says.`);
}
async function aptGet(args) {
	const environment = {
		...process.env,
		PATH: labPath(),
		DEBIAN_FRONTEND: "noninteractive"
	};
	const child = spawn("apt-get", ["-qq", ...args], {
		stdio: "ignore",
		env: environment
	});
	const [code] = await once(child, "close");
	return code === 0;
}
async function missingPrograms(programs) {
	const present = await Promise.all(programs.map(isInstalled));
	return programs.filter((_, index) => !present[index]);
}
async function isInstalled(program) {
	return (await Promise.allSettled(labPath().split(delimiter).map((folder) => access(join(folder, program), constants$2.X_OK)))).some(({ status }) => status === "fulfilled");
}
/** After a plain su(1), root's PATH lacks these folders. */
const labPath = () => [
	process.env.PATH ?? "",
	"/usr/sbin",
	"/sbin"
].join(delimiter);

// src/lab/netns/embedded-lab.ts
const execute = promisify(execFile);
const run = (program, args) => execute(program, args, { env: {
	...process.env,
	PATH: labPath()
} });
const folder = "/run/ppsgate-lab";
/** Next to the folder, which is removed with the lab. The virtual lab on this machine uses the same file. */
const ownerFile = `${folder}.owner`;
const roles = [
	"sender",
	"dut",
	"receiver"
];
const namespace = (role) => `ppsgate-${role}`;
const outsideInterface = (role) => `ppsgate-${role.slice(0, 3)}`;
const managementNetwork = {
	sender: "169.254.71",
	dut: "169.254.72",
	receiver: "169.254.73"
};
const senderCpu = 0;
const dutCpu = availableParallelism() > 1 ? 1 : 0;
/** Removes leftovers of an earlier lab, and sets up a new one. Throws if another process uses the lab. */
async function labUp() {
	await claim(ownerFile);
	try {
		await removeLab();
		await mkdir("/run/sshd", { recursive: true });
		await makeKeys();
		await makeNetwork();
		await Promise.all(roles.map(startSshd));
		return describeLab();
	} catch (error) {
		await labDown();
		throw error;
	}
}
/** Has no effect the second time. Throws if another process uses the lab. */
async function labDown() {
	await claim(ownerFile);
	await removeLab();
	await rm(folder, {
		recursive: true,
		force: true
	});
	await disclaim(ownerFile);
}
async function labLeftovers() {
	const namespaces = await existingNamespaces();
	return {
		namespaces,
		processes: (await Promise.all(namespaces.map(processesIn))).flat()
	};
}
async function removeLab() {
	for (const name of await existingNamespaces()) await endProcessesIn(name);
	for (const end of cableEnds) await run("ip", [...end]).catch(() => {});
	for (const name of await existingNamespaces()) await run("ip", [
		"netns",
		"delete",
		name
	]);
	await rm("/run/ppsgate", {
		recursive: true,
		force: true
	});
}
/** Deleting one end of a cable deletes both. */
const cableEnds = [
	...roles.map((role) => [
		"link",
		"delete",
		outsideInterface(role)
	]),
	[
		"-n",
		namespace("sender"),
		"link",
		"delete",
		"ppsgate-tx"
	],
	[
		"-n",
		namespace("receiver"),
		"link",
		"delete",
		"ppsgate-rx"
	]
];
async function existingNamespaces() {
	const { stdout } = await run("ip", [
		"-json",
		"netns",
		"list"
	]);
	const known = stdout.trim() === "" ? [] : JSON.parse(stdout);
	const ours = new Set(roles.map(namespace));
	return known.map((entry) => entry.name).filter((name) => ours.has(name));
}
async function processesIn(name) {
	const { stdout } = await run("ip", [
		"netns",
		"pids",
		name
	]);
	return stdout.split("\n").filter(Boolean).map(Number);
}
async function endProcessesIn(name) {
	for (let attempt = 0; attempt < 100; attempt++) {
		const pids = await processesIn(name);
		if (pids.length === 0) return;
		for (const pid of pids) endProcess(pid);
		await setTimeout(10);
	}
	throw new Error(`Processes in the namespace ${name} do not end: see 'ip netns pids ${name}'.`);
}
function endProcess(pid) {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		if (error.code !== "ESRCH") throw error;
	}
}
async function makeKeys() {
	await rm(join(folder, "keys"), {
		recursive: true,
		force: true
	});
	await mkdir(join(folder, "keys"), {
		recursive: true,
		mode: 448
	});
	await Promise.all(["controller", ...roles].map(makeKey));
	const lines = await Promise.all(roles.map(async (role) => `${managementNetwork[role]}.2 ${await publicKey(role)}`));
	await writeFile(knownHostsPath, `${lines.join("\n")}\n`);
}
const keyPath = (name) => join(folder, "keys", name);
const knownHostsPath = join(folder, "known_hosts");
async function makeKey(name) {
	await run("ssh-keygen", [
		"-q",
		"-t",
		"ed25519",
		"-N",
		"",
		"-C",
		name,
		"-f",
		keyPath(name)
	]);
}
async function publicKey(name) {
	const [type, key] = (await readFile(`${keyPath(name)}.pub`, "utf8")).split(" ");
	return `${type} ${key}`;
}
async function makeNetwork() {
	for (const role of roles) await run("ip", [
		"netns",
		"add",
		namespace(role)
	]);
	await ipBatch([], [...roles.flatMap(managementCable), ...dataCables]);
	await Promise.all(roles.map((role) => ipBatch(["-n", namespace(role)], addresses[role])));
	await Promise.all([
		inside("sender", [
			"ethtool",
			"-K",
			"ppsgate-tx",
			"tso",
			"off"
		]),
		inside("dut", [
			"ethtool",
			"-K",
			"ppsgate-in",
			"gro",
			"on"
		]),
		inside("dut", [
			"sysctl",
			"-qw",
			...dutSettings
		]),
		inside("receiver", [
			"nft",
			"-f",
			"-"
		], countAndDrop)
	]);
	await connectNeighbours();
	await forwardOnOwnCpu();
}
const dutSettings = [
	"net.ipv4.ip_forward=1",
	"net.ipv4.conf.all.send_redirects=0",
	"net.ipv6.conf.all.forwarding=1",
	"net.netfilter.nf_conntrack_max=1000000"
];
const countAndDrop = `table netdev ppsgate {
  chain ingress {
    type filter hook ingress device ppsgate-rx priority 0; policy drop;
  }
}
`;
const dataCables = [`link add ppsgate-tx netns ppsgate-sender type veth peer name ppsgate-in netns ppsgate-dut`, `link add ppsgate-out netns ppsgate-dut type veth peer name ppsgate-rx netns ppsgate-receiver`];
function managementCable(role) {
	const outside = outsideInterface(role);
	return [
		`link add ${outside} type veth peer name management netns ${namespace(role)}`,
		`address add ${managementNetwork[role]}.1/30 dev ${outside}`,
		`link set ${outside} up`
	];
}
const managementAddress = (role) => [
	"link set lo up",
	`address add ${managementNetwork[role]}.2/30 dev management`,
	"link set management up"
];
const addresses = {
	sender: [
		...managementAddress("sender"),
		"address add 198.18.0.2/30 dev ppsgate-tx",
		"address add 2001:2::2/126 dev ppsgate-tx nodad",
		"link set ppsgate-tx up"
	],
	dut: [
		...managementAddress("dut"),
		"address add 198.18.0.1/30 dev ppsgate-in",
		"address add 2001:2::1/126 dev ppsgate-in nodad",
		"link set ppsgate-in up",
		"address add 198.19.0.1/30 dev ppsgate-out",
		"address add 2001:2:0:8000::1/126 dev ppsgate-out nodad",
		"link set ppsgate-out up",
		"route add 198.18.0.0/16 via 198.18.0.2",
		"route add 198.19.0.0/16 via 198.19.0.2",
		"route add 2001:2::/49 via 2001:2::2",
		"route add 2001:2:0:8000::/49 via 2001:2:0:8000::2"
	],
	receiver: [
		...managementAddress("receiver"),
		"address add 198.19.0.2/30 dev ppsgate-rx",
		"address add 2001:2:0:8000::2/126 dev ppsgate-rx nodad",
		"link set ppsgate-rx up"
	]
};
/** Static, so that no traffic needs ARP or NDP. */
async function connectNeighbours() {
	const [tx, rx] = await Promise.all([macAddress$1("sender", "ppsgate-tx"), macAddress$1("receiver", "ppsgate-rx")]);
	await ipBatch(["-n", namespace("dut")], [
		`neighbour replace 198.18.0.2 lladdr ${tx} dev ppsgate-in nud permanent`,
		`neighbour replace 2001:2::2 lladdr ${tx} dev ppsgate-in nud permanent`,
		`neighbour replace 198.19.0.2 lladdr ${rx} dev ppsgate-out nud permanent`,
		`neighbour replace 2001:2:0:8000::2 lladdr ${rx} dev ppsgate-out nud permanent`
	]);
}
async function macAddress$1(role, name) {
	return (await inside(role, ["cat", `/sys/class/net/${name}/address`])).trim();
}
async function forwardOnOwnCpu() {
	await inside("dut", ["tee", "/sys/class/net/ppsgate-in/threaded"], "1");
	const thread = await forwardingThread();
	await run("taskset", [
		"--pid",
		"--cpu-list",
		String(dutCpu),
		thread
	]);
	await run("renice", [
		"-n",
		"-20",
		"-p",
		thread
	]);
}
async function forwardingThread() {
	const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	for (const pid of processes) if ((await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).startsWith("napi/ppsgate-in")) return pid;
	throw new Error("The kernel gave ppsgate-in no NAPI thread: the embedded lab needs Linux 5.12 or later.");
}
async function startSshd(role) {
	const configuration = join(folder, `sshd-${role}.conf`);
	await writeFile(configuration, sshdConfiguration(role));
	await run("ip", [
		"netns",
		"exec",
		namespace(role),
		"/usr/sbin/sshd",
		"-f",
		configuration
	]);
	await waitForSshd(role);
}
/** sshd enters the background before it listens, which may be much later on a busy machine. */
async function waitForSshd(role) {
	const address = {
		host: `${managementNetwork[role]}.2`,
		port: 22
	};
	for (let attempt = 0; attempt < 1e3; attempt++) {
		const socket = connect(address);
		const isThere = await once(socket, "connect").then(() => true, () => false);
		socket.destroy();
		if (isThere) return;
		await setTimeout(10);
	}
	throw new Error(`sshd in the namespace ${namespace(role)} does not listen on ${address.host}:22.`);
}
const sshdConfiguration = (role) => `
ListenAddress ${managementNetwork[role]}.2
HostKey ${keyPath(role)}
AuthorizedKeysFile ${keyPath("controller")}.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
# Bash reads .bashrc for a command over ssh, unless it is nested.
SetEnv SHLVL=2
Subsystem sftp internal-sftp
`;
function describeLab() {
	const host = (role) => ({
		host: `${managementNetwork[role]}.2`,
		port: 22,
		user: "root",
		privateKeyPath: keyPath("controller"),
		knownHostsPath
	});
	return {
		kind: "linux",
		sender: {
			...host("sender"),
			interface: "ppsgate-tx",
			cpu: senderCpu
		},
		dut: {
			...host("dut"),
			ingress: "ppsgate-in",
			egress: "ppsgate-out",
			cpu: dutCpu
		},
		receiver: {
			...host("receiver"),
			interface: "ppsgate-rx"
		}
	};
}
async function inside(role, command, input = "") {
	return feed("ip", [
		"netns",
		"exec",
		namespace(role),
		...command
	], input);
}
async function ipBatch(options, lines) {
	await feed("ip", [
		...options,
		"-batch",
		"-"
	], `${lines.join("\n")}\n`);
}
async function feed(program, args, input) {
	const running = run(program, args);
	running.child.stdin?.on("error", () => {}).end(input);
	return (await running).stdout;
}

// src/lab/connect.ts
/** `label` names the machine to people. Throws a HostError. */
async function connectTo(config, label, options = { keepaliveSeconds: 5 }) {
	const { host, port, user, privateKeyPath, knownHostsPath } = config;
	const name = `${label} (${host}:${port})`;
	const knownHosts = await readFile(knownHostsPath, "utf8").catch((error) => {
		const make = `make it with 'ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}', and compare the fingerprint with the machine's console`;
		throw new HostError("host-key", `The key of ${name} cannot be checked, because ${knownHostsPath} cannot be read (${codeOf(error)}): ${fixOf(error, make)}.`, { cause: error });
	});
	const identity = privateKeyPath === void 0 ? { agent: true } : { privateKey: await readPrivateKey(privateKeyPath, name) };
	return connect$1({
		host,
		port,
		user,
		knownHosts,
		label,
		...identity
	}, options);
}
const readPrivateKey = (path, name) => readFile(path, "utf8").catch((error) => {
	const make = `make it with 'ssh-keygen -t ed25519 -f ${path}' and append ${path}.pub to that machine's authorized_keys, or correct \`key\` in ppsgate.yml`;
	throw new HostError("login", `Cannot log in to ${name}, because the key ${path} cannot be read (${codeOf(error)}): ${fixOf(error, make)}.`, { cause: error });
});
const fixOf = (error, make) => codeOf(error) === "ENOENT" ? make : "see to it that it is a file that you may read";
const codeOf = (error) => error instanceof Error && "code" in error ? String(error.code) : reasonOf(error);

// src/lab/judge-profile.ts
const rawName = "profile.txt.gz";
const stacksName = "stacks.txt";
/** With 500 samples, a function with 5 % of them is measured to a fifth of its share. */
const fewestSamples = 500;
/** A DUT with many CPUs may forward with only a few. A DUT that is idle for longer was not under load. */
const mostIdleRatio = .9;
/** Also stores the text as a log. `defaults` complete the text. */
async function judgeProfile(text, defaults, keepLog) {
	await keepLog(rawName, gzipSync(text));
	const all = profileOrError(text);
	if (typeof all === "string") return missed(all);
	const { event = defaults.event, kernel = defaults.kernel } = all;
	await keepLog(stacksName, stacksText(all, kernel));
	const { profile, idleSamples } = withoutIdle(all);
	const busySamples = samplesOf(profile.stacks);
	const idleRatio = idleSamples / (busySamples + idleSamples);
	if (idleRatio > mostIdleRatio) return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: no load was on it`);
	if (busySamples < fewestSamples) return missed(`only ${busySamples} samples fell into work, at least ${fewestSamples} are needed`);
	return {
		kind: "profiled",
		event,
		kernel,
		busySamples,
		idleSamples,
		log: stacksName
	};
}
const stacksText = (profile, kernel) => [
	`# kernel: ${kernel}`,
	...foldedLines(profile, { modules: true }),
	""
].join("\n");
function profileOrError(text) {
	try {
		return parseProfile(text, "the profile", foreignBounds);
	} catch (error) {
		if (!(error instanceof ProfileError)) throw error;
		return error.message;
	}
}
const missed = (reason) => ({
	kind: "missed",
	reason
});
const impossible = (reason) => ({
	kind: "impossible",
	reason
});

// src/lab/netns/netns-run.ts
/** A DUT is not the limit if it forwards the whole load, or is busy for less than this share of the time. */
const leastOfferedRatio = 1.02;
const leastBusyRatio = .9;
/**
* Computes the medians of the samples. A hole, or a generator that was the limit, makes a run invalid. A DUT that
* received packets but forwarded none from the first sample to the last is valid, with 0.
*/
function measuredRun(planned, trial, samples, load) {
	const rates = samples.map((sample) => sample.forwardedPackets / sample.seconds);
	const stretch = samples.length < fewestForStretch ? {
		kind: "steady",
		from: 0,
		to: samples.length,
		medianPps: median(rates)
	} : steadyStretch(rates);
	if (stretch.kind === "unsteady" && rates.some((rate) => rate > 0)) {
		const validity = tooBusy(samples, load) ?? invalid("unsteady", `no steady rate: ${stretch.reason}`);
		return {
			...planned,
			trial,
			pps: median(rates),
			samples,
			validity
		};
	}
	const steady = stretch.kind === "steady" ? samples.slice(stretch.from, stretch.to) : samples;
	const pps = stretch.kind === "steady" ? stretch.medianPps : 0;
	const costs = steady.flatMap(nsPerPacket);
	return {
		...planned,
		trial,
		pps,
		...costs.length === steady.length ? { nsPerPacket: median(costs) } : {},
		samples,
		validity: validity(steady, pps, load)
	};
}
/** With fewer slices, a ramp looks like noise. */
const fewestForStretch = 10;
function nsPerPacket({ busySeconds, receivedPackets }) {
	return busySeconds && receivedPackets > 0 ? [busySeconds * 1e9 / receivedPackets] : [];
}
function validity(samples, pps, load) {
	if (samples.length === 0) return invalid("too-short", "no sample was taken");
	const holes = samples.filter((sample) => sample.forwardedPackets === 0);
	const isSilent = holes.length === samples.length;
	if (isSilent && samples.some((sample) => sample.receivedPackets > 0)) return { kind: "valid" };
	const isWhole = holes.length === 0;
	if (isWhole && isLimit(busyRatio(samples), pps, load)) return { kind: "valid" };
	if (isWhole) {
		const limited = generatorLimited(samples, pps, load);
		return waitedLong("sender", load.waitedRatio) ?? invalid("generator-limited", limited);
	}
	const silence = isSilent ? `no packet arrived for ${milliseconds(holes)} ms` : `no packet was forwarded for ${milliseconds(holes.slice(0, 1))} ms`;
	return tooBusy(samples, load) ?? invalid("hole", silence);
}
const tooBusy = (samples, { waitedRatio }) => waitedLong("sender", waitedRatio) ?? waitedLong("DUT", deniedRatio(samples));
/** Explains an invalid run: a process that was runnable without a CPU is not slow. */
function waitedLong(who, ratio = 0) {
	if (!(ratio >= leastWaitedRatio)) return void 0;
	const waited = `the ${who} waited for a CPU ${Math.round(ratio * 100)} % of the time`;
	return invalid("machine-busy", `machine too busy: ${waited}; end what else runs on its machine, or wait for that to end`);
}
/** On a quiet machine the sender waits for 2 % of the time. */
const leastWaitedRatio = .05;
const milliseconds = (samples) => Math.round(sum(samples.map(({ seconds }) => seconds)) * 1e3);
/** Uses the DUT's own idle time: a sender that waits for the DUT offers no more than the DUT accepts. */
const isLimit = (busy, pps, { offeredPps }) => busy === void 0 ? offeredPps > pps * leastOfferedRatio : busy > leastBusyRatio;
/** Names no share of the offered load, which is known only for the whole trial. */
function generatorLimited(samples, pps, load) {
	const { offeredPps, forwardedPps } = load;
	const busy = busyRatio(samples);
	const share = formatPercent(forwardedPps / offeredPps);
	const trial = `${formatPps(forwardedPps)} of ${formatPps(offeredPps)} offered (${share}) in its whole trial`;
	const rates = `generator-limited: ${formatPps(pps)} came through in this run, ${trial}`;
	return busy === void 0 ? rates : `${rates}, and the DUT was busy for ${formatPercent(busy)} of the time`;
}
/** Share of the time in which the forwarding thread ran or was runnable; undefined if the DUT does not report it. */
function busyRatio(samples) {
	const busy = samples.flatMap(({ busySeconds, deniedSeconds = 0 }) => busySeconds === void 0 ? [] : busySeconds + deniedSeconds);
	if (busy.length < samples.length) return void 0;
	return sum(busy) / sum(samples.map((sample) => sample.seconds));
}
function deniedRatio(samples) {
	const seconds = sum(samples.map((sample) => sample.seconds));
	return Math.min(1, sum(samples.map(({ deniedSeconds = 0 }) => deniedSeconds)) / seconds);
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
const invalid = (cause, reason) => ({
	kind: "invalid",
	cause,
	reason
});

// src/lab/netns/netns-logs.ts
/** Counted since the interfaces came up. */
const countersSchema = object({
	forwarded: total,
	received: total
});
const beforeAndAfter = object({
	before: countersSchema,
	after: countersSchema
});
const logNames = {
	dut: "dut.log",
	sender: "sender.log",
	counters: "counters.json"
};
/** The receiver must count more than this share of the DUT's forwarded packets. */
const leastReceivedShare = .99;
/** `observation` has the reason of a stop, which its log lacks. */
function readLinuxLogs(planned, startedAt, logs, observation = parseObservation(logs.dut)) {
	const sent = parseTrafgenLog(logs.sender);
	if (sent.kind === "failed") return sent;
	if (observation.kind === "failed") return observation;
	const counted = countersOf(logs.counters);
	if (counted === void 0) return {
		kind: "failed",
		reason: `the counters cannot be read: "${shortened(logs.counters)}"`
	};
	const loss = lossBehindTheDut(counted);
	if (loss !== void 0) return {
		kind: "failed",
		reason: loss
	};
	const load = {
		...sent,
		forwardedPps: counted.forwarded / sent.seconds
	};
	const read = limitsInLinuxLog(logs.dut, planned.runs);
	const variants = new Set(planned.runs.map(({ variant }) => variant));
	const drops = new Map([...variants].map((one) => [one, droppedBy(logs.dut, pathName(one), read[one])]));
	const runs = planned.runs.map((run, index) => {
		const samples = observation.samplesPerRun[index] ?? [];
		const measured = measuredRun(run, planned.number, samples, load);
		const by = measured.pps === 0 ? drops.get(run.variant) : void 0;
		return by === void 0 ? measured : {
			...measured,
			droppedBy: by
		};
	});
	const { number, cell } = planned;
	const { seconds: trafficSeconds, offeredPps } = sent;
	const limits = Object.entries(read).map(([variant, one]) => {
		const share = Math.min(1, counted.received / Math.max(1, counted.forwarded));
		return [variant, withEnds(one, { countedPackets: one.receivedPackets * share })];
	});
	return {
		kind: "measured",
		runs,
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds,
			offeredPps,
			...limits.length > 0 && { limits: Object.fromEntries(limits) }
		}
	};
}
function lossBehindTheDut({ forwarded, received }) {
	return received < forwarded * leastReceivedShare ? `the receiver counted ${received} packets of the ${forwarded} that the DUT forwarded` : void 0;
}
function countersOf(text) {
	try {
		const { before, after } = beforeAndAfter.parse(JSON.parse(text));
		return {
			forwarded: after.forwarded - before.forwarded,
			received: after.received - before.received
		};
	} catch {
		return;
	}
}

// src/lab/netns/netns-testbed.ts
const ourFolder = "/run/ppsgate";
const senderFolder = `${ourFolder}/sender`;
const slicesPerRun = 3;
/** Above the rate of any card, so that trafgen sends as fast as it can. */
const mostPps = 1e9;
/** An installation lasts about 20 ms, many times longer on a busy machine. */
const installSeconds = .5;
/** Ends processes of a lost controller. Throws a HostError if a host is unreachable, or lacks a needed program. */
async function openLinuxTestbed(name, config, traffic, connect = connectTo) {
	await using opened = new AsyncDisposableStack();
	const sender = opened.use(await connect(config.sender, "sender"));
	await requirePrograms(sender, neededPrograms.sender, "apt-get install");
	await endPrograms(sender);
	const dutHost = opened.use(await connect(config.dut, "DUT"));
	await requirePrograms(dutHost, neededPrograms.dut, "apt-get install");
	await endPrograms(dutHost);
	const receiver = opened.use(await connect(config.receiver, "receiver"));
	const dut = linuxDut(dutHost, config.dut);
	const lab = {
		config,
		traffic,
		sender,
		dutHost,
		receiver,
		dut
	};
	const connections = opened.move();
	let readied;
	let warnings = [];
	return {
		name,
		async inspect() {
			const warnings = (await dut.leftovers([config.dut.ingress, config.dut.egress])).map(({ why, fix }) => `On the DUT ${why}: ${fix}.`);
			return {
				fingerprint: await dut.fingerprint(),
				warnings
			};
		},
		async prepare({ variants, cells, notify }) {
			if (isDeepStrictEqual(readied, {
				variants,
				cells
			})) return { kind: "ready" };
			readied = void 0;
			notify("installing every variant once");
			await uploadSender(lab, cells);
			const scenarios = [...new Set(cells.map((cell) => cell.scenario))].filter(isLinuxScenario);
			const prepared = await dut.prepare(variants, scenarios);
			if (prepared.kind === "rejected") return prepared;
			readied = {
				variants,
				cells
			};
			warnings = prepared.warnings;
			return { kind: "ready" };
		},
		ready: () => new Set(readied?.variants.map(({ variant }) => variant)),
		async trial(planned, keepLog, signal) {
			const outcome = await trial(lab, planned, keepLog, signal);
			return warnings.length === 0 ? outcome : {
				...outcome,
				warnings: warnings.splice(0)
			};
		},
		booted: () => void 0,
		profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),
		async restore() {
			if (connections.disposed) return;
			await using _closed = connections;
			await endPrograms(sender);
			await endPrograms(dutHost);
			await dut.restore();
			await sender.output(shell`rm -rf ${senderFolder}`);
		}
	};
}
/** On the receiver the kernel counts. perf(1) is optional. */
const neededPrograms = {
	sender: [
		"bash",
		"pkill",
		"taskset",
		"trafgen"
	],
	dut: [
		"bash",
		"flock",
		"nft",
		"pkill",
		"sysctl",
		"taskset"
	]
};
/** Pattern for pgrep and pkill. Embedded hosts share one machine, but every match in their namespace is ours. */
const ourPrograms = shell`--ns $$ --nslist net -f ${`^(bash ${ourFolder}/|trafgen )`}`;
const timesToTerminate = 20;
const timesToEnd = 50;
const secondsBetweenTimes = .1;
const secondsToSignal = 60;
/** A generator's script ends with its connection, which a controller that lost power never closes. */
async function endPrograms(host) {
	for (let time = 0; time < timesToEnd; time += 1) {
		const signal = time < timesToTerminate ? shell`-TERM` : shell`-KILL`;
		const command = shell`pkill ${signal} ${ourPrograms}`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await setTimeout(secondsBetweenTimes * 1e3);
	}
	throw new HostError("command-failed", `Programs of an experiment on ${host.name} do not end: see what they wait for, or reboot it.`);
}
const flowsPath = (cell, traffic) => `${senderFolder}/${cell.family}.${frameBytesFor(traffic, cell)}.flows`;
const senderScriptPath = `${senderFolder}/send.bash`;
async function uploadSender(lab, cells) {
	const { sender, dutHost, config, traffic } = lab;
	await sender.output(shell`mkdir -p ${senderFolder}`);
	await sender.upload(senderScript, senderScriptPath, 493);
	const [sourceMac, destinationMac] = await Promise.all([macAddress(sender, config.sender.interface), macAddress(dutHost, config.dut.ingress)]);
	const { flows, packets, captured } = traffic;
	const byPath = new Map(cells.map((cell) => [flowsPath(cell, traffic), cell]));
	for (const [path, cell] of byPath) {
		const frameBytes = frameBytesFor(traffic, cell);
		const { family } = cell;
		const frames = trafgenFlows({
			family,
			flows,
			frameBytes,
			packets,
			captured,
			sourceMac,
			destinationMac
		});
		await sender.upload(Buffer.from(frames), path, 384);
	}
}
async function macAddress(host, name) {
	return (await host.output(shell`cat ${`/sys/class/net/${name}/address`}`)).trim();
}
async function trial(lab, planned, keepLog, signal) {
	const { traffic, config } = lab;
	const secondsPerRun = installSeconds + traffic.settleSeconds + traffic.measureSeconds;
	const limitSeconds = Math.ceil(30 + traffic.warmUpSeconds + planned.runs.length * secondsPerRun);
	const before = await counters(lab);
	const startedAt = (/* @__PURE__ */ new Date()).toISOString();
	const sending = startSender(lab, planned.cell, limitSeconds, signal);
	const { log, observation } = await lab.dut.observe({
		ingress: config.dut.ingress,
		egress: config.dut.egress,
		cpu: config.dut.cpu,
		scenario: planned.cell.scenario,
		warmUpSeconds: traffic.warmUpSeconds,
		settleSeconds: traffic.settleSeconds,
		...slicesOf(traffic),
		variants: planned.runs.map((run) => run.variant)
	}, {
		timeoutSeconds: limitSeconds,
		signal,
		isEnough: enoughFor(traffic)
	}).finally(() => sending.stop());
	const senderLog = await sending.log;
	const after = await counters(lab);
	const logs = {
		dut: log,
		sender: senderLog,
		counters: `${JSON.stringify({
			before,
			after
		}, null, 2)}\n`
	};
	for (const which of [
		"dut",
		"sender",
		"counters"
	]) await keepLog(logNames[which], logs[which]);
	return readLinuxLogs(planned, startedAt, logs, observation);
}
async function profile(lab, { cell, variant, seconds, event }, keepLog, signal) {
	const why = await whyNoPerf(lab.dutHost);
	if (why !== void 0) return impossible(why);
	const { ingress, cpu } = lab.config.dut;
	const { warmUpSeconds } = lab.traffic;
	const timeoutSeconds = Math.ceil(30 + warmUpSeconds + seconds);
	const { scenario } = cell;
	const sending = startSender(lab, cell, timeoutSeconds, signal);
	const sampled = await lab.dut.sample({
		ingress,
		cpu,
		scenario,
		warmUpSeconds,
		seconds,
		event,
		variant
	}, {
		timeoutSeconds,
		signal
	}).finally(() => sending.stop());
	await keepLog(logNames.sender, await sending.log);
	await keepLog(logNames.dut, sampled.stdout + sampled.stderr);
	if (sampled.kind === "signaled" || sampled.code !== 0) return missed(`the DUT could not be sampled: ${lastLine(sampled.stderr) ?? "it said nothing"}`);
	const arrivals = arrivalsAround(sampled.stdout);
	if (arrivals === void 0 || !(arrivals.withinPps > 0 && arrivals.afterPps > 0)) return missed("packets did not flow throughout the window in which samples were taken");
	const text = await lab.dut.printSamples();
	return judgeProfile(text, {
		event: event ?? "cycles",
		kernel: "an unknown kernel"
	}, keepLog);
}
async function whyNoPerf(dut) {
	const outcome = await dut.run(shell`perf --version`);
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	return `perf does not run on the DUT (${lastLine(outcome.stderr) ?? "it said nothing"}): install what your system calls it, linux-perf or linux-tools`;
}
/** Samples runs of several seconds once per second, like pkt-gen. */
function slicesOf({ measureSeconds }) {
	const slices = Math.max(slicesPerRun, Math.floor(measureSeconds));
	return {
		sliceSeconds: measureSeconds / slices,
		slices
	};
}
function enoughFor({ measureAtLeastSeconds, measureSeconds }) {
	if (measureAtLeastSeconds >= measureSeconds) return void 0;
	const bounds = {
		atLeast: Math.ceil(measureAtLeastSeconds),
		toleranceRatio: .005
	};
	return (samples) => isSteady(samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds), bounds);
}
function startSender(lab, cell, limitSeconds, signal) {
	const stdin = new PassThrough();
	const command = senderCommand({
		script: senderScriptPath,
		interface: lab.config.sender.interface,
		cpu: lab.config.sender.cpu,
		offeredPps: lab.traffic.offeredPps ?? mostPps,
		flows: flowsPath(cell, lab.traffic),
		limitSeconds
	});
	const log = lab.sender.output(command, {
		stdin,
		timeoutSeconds: limitSeconds + 10,
		signal
	});
	log.catch(() => {});
	return {
		log,
		stop: () => stdin.end()
	};
}
async function counters(lab) {
	const { dutHost, receiver, config } = lab;
	const [forwarded, received] = await Promise.all([counter(dutHost, config.dut.egress, "tx_packets"), counter(receiver, config.receiver.interface, "rx_packets")]);
	return {
		forwarded,
		received
	};
}
async function counter(host, name, kind) {
	return Number(await host.output(shell`cat ${`/sys/class/net/${name}/statistics/${kind}`}`));
}

export { ForeignFileError, LabImpossibleError, LabInUseError, claim, claimWhenFree, connectTo, disclaim, failureOf, impossible, isEmpty, isSqliteError, judgeProfile, labDown, labLeftovers, labPath, labUp, lockIfFree, logNames, missed, neededPrograms, openDatabase, openLinuxTestbed, ourFolder, ourPrograms, ownerFile, readLinuxLogs, readyMachine, requireLab, rerunAsRoot, watchPlace, withoutOperatorsPart };