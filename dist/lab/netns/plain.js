import { claim, disclaim } from "./first-plain.js";
import { packagesOf } from "../../model/plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { delimiter, join } = globalThis.process.getBuiltinModule("node:path");
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { connect } = globalThis.process.getBuiltinModule("node:net");
const { access, constants, mkdir, readFile, readdir, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { availableParallelism, release } = globalThis.process.getBuiltinModule("node:os");
const { execFile, spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

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
/** Reports that this machine cannot run the lab, with the missing permission and the fix. */
var LabImpossibleError = class extends Error {
	name = "LabImpossibleError";
};
/**
* Prepares this machine for the lab, with sudo and apt if needed. Returns an exit code if the same program has just run
* as root and done the work; undefined if this process may continue.
*/
async function readyMachine(print, kinds = ["embedded-linux"]) {
	const exitCode = await rerunAsRoot();
	if (exitCode !== void 0) return exitCode;
	requireRoot();
	const missing = await missingPrograms(kinds.flatMap((kind) => labPrograms[kind]));
	if (missing.length > 0) await installPackages(packagesOf(missing), print);
	await requireNamespaces();
	if (kinds.includes("embedded-linux") && !await isInstalled("perf")) await installPerf(print);
}
/** Packages of perf(1): Debian has one for all kernels, Ubuntu one per kernel. */
const perfPackages = ["linux-perf", `linux-tools-${release()}`];
/** Optional: without it, verdicts have no profiles. */
async function installPerf(print) {
	if (!await isInstalled("apt-get")) return;
	for (const name of perfPackages) {
		print(`Installing with apt-get, for profiles: ${name}`);
		if (await aptGet([
			"install",
			"--yes",
			"--no-install-recommends",
			name
		])) return;
	}
	print("perf is not available here, so no profiles are taken.");
}
/** Throws a LabImpossibleError if this process cannot run the lab. Installs nothing. */
async function requireLab(kind = "embedded-linux", programs = labPrograms[kind]) {
	requireRoot();
	const missing = await missingPrograms(programs);
	if (missing.length === 0) return requireNamespaces();
	const install = `apt-get install ${packagesOf(missing).join(" ")}`;
	throw new LabImpossibleError(`${needing[kind]} ${missing.join(" and ")}, missing on this machine: run '${install}', or '${demos[kind]}', which installs it.`);
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
	if (process.platform !== "linux") throw new LabImpossibleError(`The embedded lab needs Linux for its network namespaces, but this is ${process.platform}: run it on a Linux machine.`);
	if (process.getuid?.() !== 0) throw new LabImpossibleError("The embedded lab needs root to create network namespaces and to pin the forwarding thread: run it again as root or with sudo.");
}
async function requireNamespaces() {
	await run$1("unshare", ["--net", "true"]).catch((error) => {
		if (typeof error.code === "string") throw error;
		throw new LabImpossibleError("The embedded lab needs CAP_SYS_ADMIN to create network namespaces, which this root lacks: run it outside the container, or in a privileged one.");
	});
}
/** Returns the exit code of this program under sudo; undefined for root, or without sudo. */
async function rerunAsRoot() {
	if (process.getuid?.() === 0 || !await isInstalled("sudo")) return void 0;
	if (await sudo("--validate") !== 0) throw new LabImpossibleError("The embedded lab needs root, but sudo failed: run it again as root.");
	const { execPath, execArgv, argv } = process;
	return sudo("--preserve-env", "--", execPath, ...execArgv, ...argv.slice(1));
}
/** Returns the exit code of the program or of sudo. May prompt for a password. */
async function sudo(...args) {
	const child = spawn("sudo", args, { stdio: "inherit" });
	const [code] = await once(child, "close");
	return code ?? 1;
}
async function installPackages(names, print) {
	if (!await isInstalled("apt-get")) throw new LabImpossibleError(`The embedded lab needs ${names.join(", ")} but finds no apt-get to install them: install the equivalent packages of your system.`);
	print(`Installing with apt-get: ${names.join(", ")}`);
	const install = [
		"install",
		"--yes",
		"--no-install-recommends",
		...names
	];
	if (await aptGet(install)) return;
	if (await aptGet(["update"]) && await aptGet(install)) return;
	throw new LabImpossibleError(`apt-get could not install ${names.join(", ")}: run 'apt-get install ${names.join(" ")}' and fix its error.`);
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
	throw new Error(`Processes in the namespace ${name} do not exit: see 'ip netns pids ${name}'.`);
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
	throw new Error("The kernel created no NAPI thread for ppsgate-in: the embedded lab needs Linux 5.12 or later.");
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

export { LabImpossibleError, labDown, labLeftovers, labPath, labUp, ownerFile, readyMachine, requireLab, rerunAsRoot };