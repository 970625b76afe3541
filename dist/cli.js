import { Command, CommanderError } from "./vendor/commander.js";
import { description, version } from "./package.js";
import { isOfGate, metricChoice, namingStyles, parameter, parametersThat } from "./config/parameters.js";
import { runToExit } from "./system/exit.js";

// src/cli/ascii.ts
/** Uses the first of POSIX's variables that is set and not empty; without any the locale is C. */
const readsUtf8 = ({ LC_ALL, LC_CTYPE, LANG }) => /(?:^|\.)utf-?8(?:@|$)/i.test(LC_ALL || LC_CTYPE || LANG || "C");
/** Text writes, for people, become ASCII; byte writes, for programs, stay unchanged. */
function writeAscii(stream) {
	const write = stream.write.bind(stream);
	stream.write = (chunk, encodingOrDone, last) => {
		const done = typeof encodingOrDone === "function" ? encodingOrDone : last;
		if (typeof chunk !== "string") return write(chunk, done);
		const encoding = typeof encodingOrDone === "string" ? encodingOrDone : "utf8";
		return write(asciiOf(Buffer.from(chunk, encoding).toString()), done);
	};
}
const asciiOf = (text) => text.replace(/\P{ASCII}/gu, plain);
function plain(character) {
	const written = signs[character] ?? character.normalize("NFKD").replace(/[\p{M}\p{Cf}]/gu, "");
	return character in signs || /^[\w .]*$/.test(written) ? written : "?";
}
const signs = {
	"…": "...",
	"·": "-",
	"–": "-",
	"−": "-",
	"±": "+-",
	"×": "x",
	"≤": "<=",
	"≥": ">=",
	"→": "->",
	"↳": "->",
	"¦": "|",
	"▁": "_",
	"▂": ".",
	"▃": "-",
	"▄": "=",
	"▅": "+",
	"▆": "*",
	"▇": "%",
	"█": "#",
	"‘": "'",
	"’": "'",
	"“": "\"",
	"”": "\"",
	"✓": "[ok]",
	"✔": "[ok]",
	"✗": "[!!]",
	"✘": "[!!]",
	"🟢": "[ok]",
	"🔴": "[!!]",
	"🟡": "[??]",
	"⚪": "[--]",
	"⚠": "[!]",
	"⏳": "[..]",
	"⏸": "[||]"
};

// src/cli/run.ts
/** `endsAtOnce` is for commands with nothing to clean up, see `runToExit`. */
const run = (load, how = {}) => async function(...args) {
	const closingLines = [];
	const work = async (signal) => {
		return (await load()).run(...args.slice(0, -1), {
			signal,
			closingLines
		});
	};
	await runToExit(work, {
		...this.optsWithGlobals(),
		...how,
		closingLines
	});
};

// src/cli/gate/commands.ts
function addGateCommands(program) {
	program.command("demo").description("judge three small patches with real packets in a lab inside this machine").option("-d, --directory <dir>", "parent of the work directories (default: a new ppsgate-demo-…)").option("--resume <dir>", "continue an interrupted demo").option("--seed <number>", "seed of the order of runs (default: random)").option("--bisect", "find the one of 24 commits that lost performance, instead of judging patches").option("--kernels [base,patched]", "judge kernels and a rule in virtual machines; with two files, or with kernels from apt-get").option("--freebsd [image]", "judge rules of pf, and two kernels of --kernels, on an official image of FreeBSD").option("--design <name>", "fixed measures all runs, for comparison with the default, group-sequential").option("--json", "print the results as JSON").addHelpText("after", `
Example:
  sudo ppsgate demo
  sudo ppsgate demo --bisect
  sudo ppsgate demo --kernels
  sudo ppsgate demo --kernels linux-image-6.1.0-50.deb,linux-image-6.1.0-56.deb
  sudo ppsgate demo --freebsd FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz

Needs root on Linux. Lasts about three minutes, with --bisect less than two.
Exits 0 if every patch gets the expected verdict, or the commit is found.`).action(run(() => import("./cli/gate/demo.js")));
	const gate = program.command("gate").description("judge a patch: measure base and patched side by side, with a verdict for every cell");
	addOptions(gate, gateOptions);
	gate.addHelpText("after", `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges your changes since the main branch, committed or not.

Exits 0 on a pass, 1 if the patch is at fault, 2 on wrong usage, 3 if undecided,
and 4 if the lab failed.`).action(run(() => import("./cli/gate/gate.js")));
	const compare = program.command("compare").description("compare two rule files, overlays or kernels outside any repository").argument("<old>", "rule file, overlay folder or kernel").argument("<new>", "another one of the same kind");
	addOptions(compare, gateOptions.filter((name) => !notOfCompare.has(name)));
	compare.addHelpText("after", `
Examples:
  ppsgate compare /etc/nftables.conf new.nft
  ppsgate compare old-overlay new-overlay --scenarios forwarding
  ppsgate compare linux-6.1.deb linux-6.12.deb --testbed guests

Exits like ppsgate gate. Continue an interrupted comparison with
ppsgate gate --resume.`).action(run(() => import("./cli/gate/compare.js")));
	const plan = program.command("plan").description("estimate the minutes of a gate, for what, and how to save some");
	addOptions(plan, planOptions);
	plan.option("--json", "print the estimate as JSON, in seconds").addHelpText("after", `
Example:
  ppsgate plan --testbed chelsio --scenarios forwarding --margin 1%

Accepts the options of \`ppsgate gate\` that change its duration. Reserves
nothing, and contacts no machine. Estimates minutes from earlier gates on the
testbed, and runs from the noise of its history. With --patch it also lists
testbeds that need no measurement, as the patch changes nothing installed there.`).action(run(() => import("./cli/gate/plan.js")));
	program.command("bisect").description("find the commit of a range that lost performance, with few boots").option("--good <commit>", "commit before the loss").option("--bad <commit>", "commit after the loss").option("-p, --patch <revision>", "bisect the diffs of a revision: D27401 or D27401:80677").option("--earlier <diffs>", "with --patch: all earlier diffs, or ids separated by commas", "all").option("--from <result>", "work directory of a gate: uses its base, patched and worst cell").option("--fix-up <commit>", "FIX or FIX:FIRST, applied to commits that need it", also, []).option("--skip <commits>", "a commit or A..B to leave out; with --resume, only commits", also, []).option("-r, --repository <dir>", "git repository with the commits", ".").option("-c, --config <file>", "configuration", "ppsgate.yml").option("-t, --testbed <selector>", "name, or required properties like \"mellanox and 40G\"").option("--scenario <name>", "scenario of the cell to measure").option("--family <name>", "family of that cell: inet4 or inet6").option("--frame-size <size>", "frame size of that cell, like 64B").option("--metric <metric>", metricChoice).option("--profile <how>", "on, off, or the sampling time, like 20s").option("--max-boots <number>", "maximum number of boots; with --resume more than before (default: \"60\")").option("--verify-revert", "also measure the bad commit with the culprit reverted").option("--dry-run", "show the estimate, and reserve nothing").option("--priority <name>", "priority in the queue: release, patch or rerun", "patch").option("-d, --directory <dir>", "work directory (default: a new ppsgate-bisect-…)").option("--seed <number>", "seed of the order of runs (default: random)").option("--resume <dir>", "continue an interrupted one in its work directory").option("--answer", "post the outcome as a comment on the revision").option("--run <key>", "with --answer: key of this run, for one comment per run").option("--details <url>", "with --answer: page with the details").option("--site <url>", "with --answer: URL of the work directory for browsers").option("--json", "print the result as JSON").addHelpText("after", `
Example:
  ppsgate bisect --good v1.2 --bad main --scenario forwarding --family inet4
  ppsgate bisect --from ppsgate-gate-20261120-231655 --dry-run

Exits 0 if it names one commit or a few, 2 on wrong usage, 3 if undecided, and
4 if the lab failed.`).action(run(() => import("./cli/gate/bisect.js")));
	program.command("nightly").description("measure a branch head against itself, and follow up changes").option("--commit <name>", "commit to measure against itself", "HEAD").option("-r, --repository <dir>", "git repository with the commit", ".").option("-c, --config <file>", "configuration", "ppsgate.yml").option("-t, --testbed <selector>", "name, or required properties like \"mellanox and 40G\"").option("--data <dir>", "folder of nightly runs and results (default: as configured)").option("--priority <name>", "priority in the queue: release, patch or rerun", "rerun").option("-d, --directory <dir>", "work directory (default: a new ppsgate-nightly-…)").option("--resume <dir>", "continue an interrupted one in its work directory").option("--json", "print the result of the A/A run as JSON").addHelpText("after", `
Cells that differ from earlier nightly runs are measured again at once. If a
change lasts, a gate compares its last good commit with its first bad one; with
\`trend: { bisect: true }\` in ppsgate.yml, a confirmed change is bisected.

Example:
  ppsgate nightly --commit origin/main --data /srv/www/ppsgate

Exits 0 if it was measured, 2 on wrong usage, and 4 if the lab failed.`).action(run(() => import("./cli/gate/nightly.js")));
	program.command("init").description("write the workflow and ppsgate.yml into this repository, and create the label").option("--kind <name>", "linux: rules of a router; freebsd: a source tree of FreeBSD, or rules of pf or ipfw (default: by the rules found)").option("--image <url>", "with --kind freebsd: the official image that guests boot").option("--sha512 <sum>", "SHA-512 of that image, from its CHECKSUM.SHA512").option("--runner <labels>", "ubuntu-latest, with the lab inside it, or self-hosted,LABEL").option("--action <pin>", "OWNER/ppsgate@COMMIT (default: the running ppsgate, if cloned)").option("--branch <name>", "default branch of the repository (default: git's)").option("--repository <name>", "OWNER/NAME on GitHub (default: that of origin)").option("--force", "overwrite workflows that differ; ppsgate.yml never is").option("--yes", "do not ask").option("--dry-run", "show what would be written, and write nothing").option("--json", "print the outcome as JSON").addHelpText("after", `
Examples:
  ppsgate init
  ppsgate init --runner self-hosted,lab --action OWNER/ppsgate@COMMIT --yes
  ppsgate init --kind freebsd --image https://…-BASIC-CI-ufs.raw.xz --sha512 SUM

At a terminal it asks for missing options, and offers to write a small
dut/nftables.conf if the repository has no rules yet; --yes writes one. It finds
nftables.conf, sysctl.conf, pf.conf and ipfw.rules at the top and in etc/, and
configures measurements of their changes. If GITHUB_TOKEN has a token, it
creates the label.

Run it again at any time: it keeps and reports files that differ from what it
would write.

Exits 0 even if it kept files, 2 on wrong usage, and 4 on any other failure.`).action(run(() => import("./cli/gate/init.js")));
	program.command("comment").description("show the workflow's decision on a comment, and measure nothing").argument("<text>", "the comment, like \"/ppsgate run margin=2%\"").option("--dry-run", "required: only show the decision; post and measure nothing").option("--by <login>", "author of the comment", "maintainer").option("--role <role>", "the author's permission: write or read", "write").option("--fork", "the pull request comes from a fork").option("--base <commit>", "base of the pull request, whose ppsgate.yml applies", "main").option("--head <commit>", "head of the pull request", "HEAD").option("-r, --repository <dir>", "git repository with the commits", ".").option("-c, --config <file>", "path of the configuration in the repository", "ppsgate.yml").option("--pull-request <name>", "read this pull request from GitHub, like example/router#7, with the token in GITHUB_TOKEN").addHelpText("after", `
Examples:
  ppsgate comment "/ppsgate run" --dry-run
  ppsgate comment "/ppsgate run" --dry-run --fork --by alice --role read

Without --pull-request it uses no network.
Exits 0 if the comment is approved or measures nothing, and 2 if it is refused.`).action(run(() => import("./cli/gate/comment.js")));
}
const gateOptions = parametersThat((one) => isOfGate(one) && one.option !== void 0);
/** Options of `ppsgate gate` on a repository, a revision, or a work directory of an earlier gate. */
const notOfCompare = /* @__PURE__ */ new Set([...[
	"patch",
	"repository",
	"earlier",
	"baseKernel",
	"patchedKernel",
	"resume",
	"record"
], ...[
	"layoutNoise",
	"answer",
	"run",
	"build",
	"details",
	"site"
]]);
const planOptions = [
	...[
		"patch",
		"repository",
		"config",
		"testbed",
		"each",
		"scenarios",
		"families"
	],
	...[
		"metric",
		"margin",
		"falseAlarms",
		"power",
		"design",
		"maxRuns",
		"profile"
	],
	...[
		"measureAnyway",
		"earlier",
		"stopAtFirst"
	]
];
function addOptions(command, names) {
	for (const name of names) {
		const { flags = namingStyles.flag(name), value, help = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, help, usual);
	}
}
const also = (text, before) => [...before, ...text.split(",").map((part) => part.trim())];

// src/cli/lab/commands.ts
function addLabCommands(program) {
	const lab = program.command("lab").description("set up, remove or check the lab inside this machine").addHelpText("after", "\nExample:\n  sudo ppsgate lab up && ip netns exec ppsgate-dut ip route");
	lab.command("up").description("set up the three namespaces, their cables and their sshd; replaces an earlier lab").action(run(async () => ({ run: (await import("./cli/lab/lab.js")).up })));
	lab.command("down").description("remove the lab, and every process in it").action(run(async () => ({ run: (await import("./cli/lab/lab.js")).down })));
	lab.command("check").description("check that this machine can run the lab, and show what exists of one").action(run(async () => ({ run: (await import("./cli/lab/lab.js")).check })));
	const testbeds = program.command("testbeds").description("show the holders of testbeds; list, check and maintain those of ppsgate.yml").addHelpText("after", overviewDetails);
	testbeds.command("show", { isDefault: true }).description("print holders, their expected ends, and the queue (the default)").option("-c, --config <file>", "configuration", "ppsgate.yml").option("-w, --watch", "show it again at each change, until Ctrl-C").option("--json", "print it as JSON; with --watch, one line per change").addHelpText("after", overviewDetails).action(run(() => import("./cli/lab/show.js")));
	testbeds.command("list").description("print name, kind, DUT, ports and capabilities, one line each").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print them as JSON").addHelpText("after", "\nExample:\n  ppsgate testbeds list").action(run(() => import("./cli/lab/list.js")));
	testbeds.command("check").description("check logins, ports, settings, routes, kernels, builder, power and speed").argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--no-traffic", "send no packets").option("--power", "turn the DUT off and on, and wait until it is up again").option("--record <file>", "log all commands and replies of the machines").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", `
Example:
  ppsgate testbeds check hp-t540 --no-traffic

Exits 0 if all is well, 2 for an unknown name, and 4 if something is wrong.`).action(run(() => import("./cli/lab/check.js")));
	testbeds.command("self-test").description("test everything that a gate does on a FreeBSD testbed, accidents included").argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--yes", "cause the accidents without asking").option("--skip <parts>", "parts to leave out, separated by commas: check, scenarios, trials, profile, panic, hang, noise").option("--base-kernel <file>", "archive of the kernel to try, for nanobsd an image (default: the builder's, or the DUT's own)").option("--resume <dir>", "continue an interrupted self-test").option("--record <file>", "log all commands and replies of the machines").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", `
Boots a kernel under another name, installs each scenario, measures each cell,
takes a profile, makes the DUT panic and hang (each only after asking), measures
the noise of six boots, and undoes all of it.

Example:
  ppsgate testbeds self-test hp-t540
  ppsgate testbeds self-test hp-t540 --yes --skip hang,noise

Exits 0 if all is well, 2 on wrong usage, and 4 if something is wrong.`).action(run(() => import("./cli/lab/self-test.js")));
	testbeds.command("health").description("check that free testbeds are ready for the next patch").argument("[names...]", "testbeds of the configuration (default: all)").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", `
Example:
  ppsgate testbeds health hp-t540 --json

Reserves each testbed for its check, and skips one that is held or waited for.
Puts a faulty testbed into quarantine. Lifts a quarantine if all is well and
ppsgate itself had set it; one set by a person stays.

As JSON:
  [{ "testbed", "kind": "well" | "wrong", "diagnostics": […],
     "quarantine": { "kind": "none" | "lifted" | "stands" } }]
Or "kind": "in-use" with "why".

Exits 0 if every checked testbed is well, 2 for an unknown name, and 4 if
something is wrong.`).action(run(() => import("./cli/lab/health.js")));
	testbeds.command("log").description("print past reservations: holder, duration and outcome").argument("[name]", "one testbed alone").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print it as JSON").addHelpText("after", "\nExample:\n  ppsgate testbeds log hp-t540 | tail").action(run(() => import("./cli/lab/log.js")));
	program.command("reserve").description("reserve a testbed while a command of yours runs").argument("<selector>", "name, or required properties like \"mellanox and 40G\"").argument("[command...]", "after two dashes").option("--purpose <text>", "purpose, visible to others", "by hand").option("--priority <name>", "priority in the queue: release, patch or rerun", "patch").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `
Examples:
  ppsgate reserve hp-t540 --purpose "new cables" -- ssh root@192.0.2.11
  ppsgate reserve "chelsio and 10G" -- \\
    sh -c 'ssh "root@$PPSGATE_DUT" pmcstat -T'

The command has these in its environment:
  PPSGATE_TESTBED  name of the testbed
  PPSGATE_DUT      host of its DUT; not set for the embedded lab
  PPSGATE_TOKEN    number of the reservation: higher than of any before

After any end of the command, the testbed's base is restored, and the testbed is
released. If the testbed is lost, the command gets SIGTERM, and SIGKILL 10 s
later.

Exits with the code of the command, 4 if no testbed was reserved or it was lost,
and 2 on wrong usage.`).action(run(() => import("./cli/lab/reserve.js")));
	program.command("release").description("take a testbed from its holder, or release one that a gate left").argument("[name]", "testbed of the configuration").option("--force", "take it from its holder, and so end the measurement").option("--by <name>", "your name, for the log (default: prompts for it)").option("--yes", "do not ask").option("-d, --directory <dir>", "work directory of an ended gate: release its testbed").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `
Examples:
  ppsgate release hp-t540 --force
  ppsgate release --directory ppsgate-gate-20261120-231655

Exits 0 even if it was free, 2 on wrong usage, and 4 if the store cannot be
used.`).action(run(() => import("./cli/lab/release.js")));
	program.command("quarantine").description("put a testbed into quarantine, or lift it").argument("<name>", "testbed of the configuration").option("--reason <text>", "reason, visible to all").option("--lift", "lift the quarantine").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `
Examples:
  ppsgate quarantine hp-t540 --reason "port 1 loses its link"
  ppsgate quarantine hp-t540 --lift

Exits 0 even if there was none to lift, 2 on wrong usage, and 4 if the store
cannot be used.`).action(run(() => import("./cli/lab/quarantine.js")));
}
const overviewDetails = `
Examples:
  ppsgate testbeds --watch
  ppsgate testbeds --json | jq -r '.testbeds[] | select(.state == "free").name'

As JSON, keys that do not apply are left out:
  {
    "at": "2026-11-20T14:20:31.000Z",
    "testbeds": [
      { "name": "hp-t540", "kind": "freebsd", "state": "held",
        "held": { "who": "alice@lab1", "purpose": "gate", "patch": "#12",
                  "url": "https://…", "testbed": "hp-t540",
                  "priority": "patch", "token": 1763647351207,
                  "since": "2026-11-20T14:02:31.207Z",
                  "expectedUntil": "2026-11-20T14:55:31.207Z" } },
      { "name": "rcc-ve", "kind": "freebsd", "state": "quarantine",
        "quarantine": { "reason": "…", "by": "ppsgate",
                        "since": "2026-11-20T13:10:02.114Z" } },
      { "name": "shelf", "kind": "linux", "state": "left-behind",
        "leftBy": [{ "who": "carol@lab2", "purpose": "by hand",
                     "testbed": "shelf", "since": "…" }] },
      { "name": "rack-4", "kind": "linux", "state": "free" }
    ],
    "queue": [
      { "place": 1, "of": 1, "expectedSeconds": 2100, "who": "bob@lab2",
        "purpose": "gate", "patch": "#14", "priority": "patch",
        "wants": ["hp-t540"], "since": "2026-11-20T14:11:09.530Z" }
    ]
  }`;

// src/cli/relay/commands.ts
function addRelayCommands(program) {
	program.command("relay").description("start gates for revisions on Herald's webhooks and Harbormaster's builds").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`).action(run(() => import("./cli/relay/relay.js")));
	program.command("poll").description("start gates for revisions by polling the server, which needs no set-up").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--every <seconds>", "seconds between two polls, from 10 to 3600", "60").option("--once", "poll once, start the gates that are due, and exit").addHelpText("after", `\nExample:\n  ppsgate poll --every 120\n\n${ends}`).action(run(async () => ({ run: (await import("./cli/relay/relay.js")).poll })));
	program.command("phabricator").description("check the set-up for a Phabricator server").addHelpText("after", example).command("check").description("check the server, the bot, its approvers and build plans, the relay and its starter").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", `${example}

Writes and starts nothing. Run it as the relay's user.

As JSON:
  { "phabricator": "https://…",
    "diagnostics": [{ "kind", "what", "why", "fix" }] }
"kind" is "ok", "warning", "wrong", "unreachable" or "skipped"; "fix" is the
remedy.

Exits 0 if there are no faults but warnings, 2 if something is wrong, and 4 if
the only fault is that the server or the relay does not reply.`).action(run(() => import("./cli/relay/phabricator.js")));
}
const ends = "Runs until interrupted. Its gates continue, and its queue is kept for the next\nstart.";
const example = "\nExample:\n  ppsgate phabricator check --config /usr/local/etc/ppsgate.yml";

// src/cli/reports/commands.ts
function addReportCommands(program) {
	program.command("badge").description("print Markdown for the badges of a configuration's testbeds").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--testbed <names...>", "only these testbeds").option("--repository <owner/name>", "repository on GitHub (default: that of the remote origin)").option("--branch <name>", "branch with the badges (default: github.data.branch)").option("--json", "print them as JSON").addHelpText("after", `
Example:
  ppsgate badge --testbed hp-t540 --repository example/router >> README.md

As JSON: [{ "label", "image", "endpoint", "markdown" }]. The image is an SVG,
and the endpoint is for https://img.shields.io/endpoint?url=ENDPOINT.

A badge exists once a patch was judged on the default branch; the last badge of
a testbed, for its A/A runs, exists after its first nightly run.
Exits 2 if the repository is unknown.`).action(run(() => import("./cli/reports/badge.js")));
	program.command("site").description("write pages of the branch over time: changes, series, error rates, the lab").requiredOption("--from <dir>", "checkout of the data branch, or the data directory").requiredOption("--to <dir>", "folder of the site; an earlier site there is replaced").option("--lab <file>", "output of `testbeds --json` (default: lab.json of --from)").option("--health <file>", "output of `testbeds health --json` (default: health.json of --from)").addHelpText("after", `
Example:
  git worktree add ../data origin/ppsgate-data
  ppsgate site --from ../data --to ../site

The folder is self-contained: any web server can serve it, and a browser can
open its index.html from disk.

Exits 2 if --from is anything else, or --to has other content.`).action(run(() => import("./cli/reports/site.js"), { endsAtOnce: true }));
	program.command("report").description("render the report of a work directory again, as Markdown").argument("<dir>", "work directory of a gate or a bisection, or its result.json").option("--json", "print result.json").option("--page", "write the page, its plots and flamegraphs again, and print its path").addHelpText("after", "\nExample:\n  ppsgate report ppsgate-gate-20261120-231655").action(run(() => import("./cli/reports/report.js"), { endsAtOnce: true }));
	program.command("analyze").description("judge earlier runs again, from their raw logs").argument("<dir>", "work directory of a gate, or one with bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver logs of pkt-gen").option("--netbenches-trim", "use medians, as in the .pps files of the netbenches archive").option("--base <image>", "set to compare the others with (default: the first)").option("--margin <percent>", "the loss that matters", "2%").option("--false-alarms <percent>", "false alarms over all sets, if nothing was lost", "1%").option("--power <percent>", "share of losses of the margin to detect", "95%").option("--json", "print the numbers as JSON").addHelpText("after", `
Example:
  ppsgate analyze --netbenches-trim results/fbsd12-r325006-D12685

Exits as gate does: 0 on a pass, 1 on a regression, 2 on wrong usage, 3 when
undecided.`).action(run(() => import("./cli/reports/analyze.js"), { endsAtOnce: true }));
	program.command("changes").description("find lasting changes in a series of nightly runs, not single outliers").argument("<file>", "file with one line per nightly run, a name and its values; or a folder of REV[.CONFIG].pps").option("--least <percent>", "the smallest change that matters", "1%").option("--json", "print the changes as JSON").addHelpText("after", `
Example:
  ppsgate changes nightly.txt

nightly.txt has the nightly runs in order:
  n268411 1042331 1043120 1041877
  n268502 1041022 1042345 1040998

Judges the nightly runs one after the other, as if each were the latest. A
change that was found stays; one or two bad nightly runs are none. As JSON:
  { "changes": [{ "series", "name", "index",
                  "before", "after", "changeRatio" }] }
"name" and "index" (from 0) are those of the first nightly run at the new level,
"before" and "after" the medians of the runs up to the next change.

Exits 0 with or without changes, and 2 if the file cannot be read.`).action(run(() => import("./cli/reports/changes.js"), { endsAtOnce: true }));
}

// src/cli/tools/commands.ts
function addToolCommands(program) {
	program.command("ministat").description("compare sets of numbers with the first, with the output of FreeBSD's ministat(1)").argument("[FILE...]", "up to seven files of numbers; - or no file is standard input").option("-A", "no plot").option("-n", "summaries only: no plot, no test").option("-P", "standard deviation of a whole population; no test").option("-q", "omit names and column headings").option("-s", "draw the bar of each set on a separate line").option("-C <column>", "column to read, from 1", "1").option("-c <confidence>", "in percent: 80, 90, 95, 98, 99 or 99.5", "95").option("-d <delimiters>", "characters between columns (default: space and tab)").option("-w <width>", "width of the plot (default: 74, or that of the terminal less 2)").option("--json", "print the numbers as JSON").addHelpText("after", "\nExample:\n  ppsgate ministat -s -w 60 base.pps patched.pps").action(run(() => import("./cli/tools/ministat.js"), { endsAtOnce: true }));
	program.command("fold").description("print a profile of pmcstat -G or perf script as folded stacks").argument("[FILE]", "profile, or folded stacks; - or no file is standard input").option("--no-idle", "omit samples of idle CPUs").option("--modules", "name the kernel module, library or program of each frame: pf.ko`pf_test").option("--json", "the stacks as JSON").addHelpText("after", `
Example:
  pmcstat -R pmc.out -z 100 -G pmc.graph
  ppsgate fold --no-idle pmc.graph | grep pf_test

Stacks of pmcstat are folded like stackcollapse-pmc.pl does. As JSON:
  { "format", "event", "kernel", "samples", "notes",
    "idle": { "samples", "frames" }, "stacks": [{ "frames", "samples" }] }
Frames go from the outermost caller inwards. "event" and "kernel" are present if
the profile has them, "idle" with --no-idle.

Exits 2 if a file is no readable profile.`).action(run(() => import("./cli/tools/fold.js"), { endsAtOnce: true }));
	program.command("flamegraph").description("draw a profile, or its difference from a base, as a flamegraph in a self-contained SVG").argument("<FILE>", "profile of pmcstat -G or perf script, or folded stacks; - is standard input").option("--base <FILE>", "profile to compare with: red is a greater share of samples than there, blue a smaller one").option("-o, --output <FILE>", "SVG to write; - is standard output", "-").option("--title <text>", "title (default: the profile's kernel, or its name)").option("--idle", "include samples of idle CPUs").addHelpText("after", `
Example:
  ppsgate flamegraph pmc.graph -o pmc.svg
  ppsgate flamegraph patched.graph --base base.graph -o difference.svg

In a browser a click or Enter zooms, / searches, Escape goes back, and arrow
keys move between frames. Widths are shares of all samples, so profiles of
different lengths can be compared. Stacks of the base alone are drawn below.

Exits 2 if a file is no readable profile, or has no samples left.`).action(run(() => import("./cli/tools/flamegraph.js"), { endsAtOnce: true }));
}

// src/cli/program.ts
function makeProgram() {
	const program = new Command("ppsgate").description(description).version(version).option("--debug", "show the stack trace of an error").addHelpText("after", "\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch").exitOverride().configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, "ppsgate:")) }).configureHelp({ minWidthToWrap: 30 });
	addGateCommands(program);
	addReportCommands(program);
	addToolCommands(program);
	addLabCommands(program);
	addRelayCommands(program);
	return program;
}

// src/cli.ts
for (const one of [process.stdout, process.stderr]) {
	one.on("error", (error) => {
		if (error.code !== "EPIPE") throw error;
	});
	if (!readsUtf8(process.env)) writeAscii(one);
}
try {
	await makeProgram().parseAsync();
} catch (error) {
	if (!(error instanceof CommanderError)) throw error;
	if (error.exitCode !== 0) process.exitCode = 2;
}

export {  };