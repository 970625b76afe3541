import { lockIfFree } from "./sqlite.js";
import { packagesOf } from "./host.js";
import { once } from "node:events";
import { execFile, spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { connect } from "node:net";
import { access, constants, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { availableParallelism, release } from "node:os";
import { setTimeout } from "node:timers/promises";

// src/linux-lab/owner.ts
/** Locks of this process, by path. */
const locks = /* @__PURE__ */ new Map();
/** Makes this process the owner, whose number is then in the file; throws a LabInUseError when another one is. */
async function claim(path) {
	if (locks.has(path)) return;
	await mkdir(dirname(path), { recursive: true });
	const lock = lockIfFree(`${path}.lock`);
	if (lock === void 0) {
		const pid = await readFile(path, "utf8").catch(() => "of another user");
		throw new LabInUseError(`The lab of this machine is in use by process ${pid}: wait for it to end, or end it with 'kill ${pid}'.`);
	}
	locks.set(path, lock);
	await writeFile(path, String(process.pid));
}
/** Lets others claim it; harmless where this process is not the owner. */
async function disclaim(path) {
	const lock = locks.get(path);
	if (lock === void 0) return;
	await rm(path, { force: true });
	locks.delete(path);
	lock[Symbol.dispose]();
}
var LabInUseError = class extends Error {};

// src/linux-lab/requirements.ts
const run$1 = promisify(execFile);
/** Without git there is no patch to judge. Guests run a part of the programs of a virtual one, and the others make what they boot. */
const labPrograms = {
	"embedded-linux": [
		"nft",
		"trafgen",
		"sshd",
		"ssh-keygen",
		"ethtool",
		"ip",
		"sysctl",
		"git"
	],
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
/** This machine cannot carry the lab; the message says which right is missing and what would be needed. */
var LabImpossibleError = class extends Error {
	name = "LabImpossibleError";
};
/**
* Sees to it that this process can carry the lab, through sudo and apt where it must. An exit code means
* that the same program has just run as root and done the work; nothing, that this process may go on.
*/
async function readyMachine(say, kinds = ["embedded-linux"]) {
	const exitCode = await rerunAsRoot();
	if (exitCode !== void 0) return exitCode;
	await requireRights();
	const missing = await missingPrograms(kinds.flatMap((kind) => labPrograms[kind]));
	if (missing.length > 0) await installPackages(packagesOf(missing), say);
	if (kinds.includes("embedded-linux") && !await isInstalled("perf")) await installPerf(say);
}
/** Names by which systems have perf(1): Debian one for all kernels, Ubuntu one for each. */
const perfPackages = ["linux-perf", `linux-tools-${release()}`];
/** Without it the lab measures all the same, and no verdict tells where the time went. */
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
/** Throws a `LabImpossibleError` where this process cannot carry the lab as the machine is, and installs nothing. */
async function requireLab(kind = "embedded-linux", programs = labPrograms[kind]) {
	await requireRights();
	const missing = await missingPrograms(programs);
	if (missing.length === 0) return;
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
/** Throws a `LabImpossibleError` where this process may not make network namespaces. */
async function requireRights() {
	if (process.platform !== "linux") throw new LabImpossibleError(`The embedded lab needs Linux for its network namespaces, and this is ${process.platform}: run it on a Linux machine.`);
	if (process.getuid?.() !== 0) throw new LabImpossibleError("The embedded lab needs root, to make network namespaces and to pin the forwarding thread: run it again as root or with sudo.");
	await run$1("unshare", ["--net", "true"]).catch(() => {
		throw new LabImpossibleError("The embedded lab needs the right to make network namespaces (CAP_SYS_ADMIN), which this root lacks: run it outside the container, or in a privileged one.");
	});
}
/**
* Runs this same program again through sudo, when it is not root and there is a sudo; answers its exit
* code, or nothing when this process may go on itself.
*/
async function rerunAsRoot() {
	if (process.getuid?.() === 0 || !await isInstalled("sudo")) return void 0;
	if (await sudo("--validate") !== 0) throw new LabImpossibleError("The embedded lab needs root, and sudo did not give it: run it again as root.");
	const { execPath, execArgv, argv } = process;
	return sudo("--preserve-env", "--", execPath, ...execArgv, ...argv.slice(1));
}
/** The exit code of what sudo ran, or its own; it may ask for a password. */
async function sudo(...args) {
	const child = spawn("sudo", args, { stdio: "inherit" });
	const [code] = await once(child, "close");
	return code ?? 1;
}
/** Installs packages by apt; `say` gets a line before anything is done. */
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
	return (await Promise.allSettled(labPath().split(delimiter).map((folder) => access(join(folder, program), constants.X_OK)))).some(({ status }) => status === "fulfilled");
}
/** Where the lab's programs are looked for: root's own PATH lacks these folders after a plain su(1). */
const labPath = () => [
	process.env.PATH ?? "",
	"/usr/sbin",
	"/sbin"
].join(delimiter);

// src/linux-lab/lab.ts
const execute = promisify(execFile);
const run = (program, args) => execute(program, args, { env: {
	...process.env,
	PATH: labPath()
} });
const folder = "/run/ppsgate-lab";
/** Beside the folder, which comes and goes; who has the virtual laboratory has the same machine. */
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
/** Brings the lab up, after taking down what an earlier one left, and says how to reach it; fails when another process uses it. */
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
/** Takes everything of the lab down: processes, namespaces, keys; harmless when there is nothing, refused when another process uses it. */
async function labDown() {
	await claim(ownerFile);
	await removeLab();
	await rm(folder, {
		recursive: true,
		force: true
	});
	await disclaim(ownerFile);
}
/** What of a lab exists on this machine: namespaces and processes in them; all empty after `labDown`. */
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
/** How to delete one end of each cable, and so both. */
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
/** Static neighbours, so that no ARP or NDP is needed while packets flow. */
async function connectNeighbours() {
	const [tx, rx] = await Promise.all([macAddress("sender", "ppsgate-tx"), macAddress("receiver", "ppsgate-rx")]);
	await ipBatch(["-n", namespace("dut")], [
		`neighbour replace 198.18.0.2 lladdr ${tx} dev ppsgate-in nud permanent`,
		`neighbour replace 2001:2::2 lladdr ${tx} dev ppsgate-in nud permanent`,
		`neighbour replace 198.19.0.2 lladdr ${rx} dev ppsgate-out nud permanent`,
		`neighbour replace 2001:2:0:8000::2 lladdr ${rx} dev ppsgate-out nud permanent`
	]);
}
async function macAddress(role, name) {
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
/** sshd goes into the background first and listens then, which takes its time on a busy machine. */
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
# Bash takes a command over ssh for a login, and reads the .bashrc for it, unless it is told that it is nested.
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

export { LabImpossibleError, LabInUseError, claim, disclaim, labDown, labLeftovers, labPath, labUp, ownerFile, readyMachine, requireLab, rerunAsRoot };