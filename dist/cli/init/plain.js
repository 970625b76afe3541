import { kebabCase, parameter, parametersThat } from "../../config/parameters.js";
import { UsageError, reasonOf } from "../../model/first-plain.js";
import { giveNew } from "../../system/give-to-caller.js";
import { require_dist } from "../../vendor/yaml.js";
import { oneLine } from "../table.js";
import { stringWidth } from "../../vendor/string-width.js";
const { dirname, join } = globalThis.process.getBuiltinModule("node:path");
const { mkdir, readFile, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/init/config-file.ts
var import_dist = require_dist();
/** A line for editors; none without a version of ppsgate. */
const modeline = (action) => {
	const [, repository, commit] = /^([^@]+)@(\S+)/.exec(action ?? "") ?? [];
	if (repository === void 0) return "";
	return `# yaml-language-server: $schema=https://raw.githubusercontent.com/${repository}/${commit}/docs/ppsgate.schema.json\n`;
};
/** Writes the `overlay` of found files; quotes paths that YAML would misread. */
const overlayOf = (found) => `# Files of this repository that the router loads, by their names in the overlay. Patches change these.
${(0, import_dist.stringify)({ overlay: { files: Object.fromEntries(found) } })}\
  # Names of interfaces in these files: test packets arrive at ingress, and leave by egress.
  # interfaces: { lan0: ingress, wan0: egress }

# Networks that these rules accept, from which and to which test packets go.
# traffic: { addresses: { inet4: { source: 192.168.1.0/24, destination: 203.0.113.0/24 } } }
`;
const usualOverlay = `\
# A folder beside this file with what the router loads: nftables.conf, sysctl.conf, or both. Patches change these.
overlay: dut
`;
const hostedConfig = (action, found = /* @__PURE__ */ new Map()) => `\
${modeline(action)}# Measurements and testbeds. Every other key is in docs/example/ppsgate.yml of ppsgate.

${found.size > 0 ? overlayOf(found) : usualOverlay}
testbeds:
  # Three network namespaces in the runner: sender, DUT, receiver. There is nothing to configure.
  this-machine:
    kind: embedded-linux

scenarios: [forwarding]
families: [inet4]

gate:
  # Steadier than pps on a machine that is shared.
  metric: nsPerPacket
  # The loss that matters: a smaller one is not a regression.
  margin: 5%
`;
/** The example of one's own lab is in comments. */
const labConfig = (action, found = /* @__PURE__ */ new Map()) => `\
${modeline(action)}# Measurements and testbeds. docs/how-to/lab.md of ppsgate sets up a FreeBSD lab step by step, with an example for each
# kind of bench in docs/lab; docs/example/ppsgate.yml has every other key, and three Linux hosts.

${found.size > 0 ? `${overlayOf(found)}\n` : ""}testbeds:
  # Three network namespaces in the runner itself, to begin with. Delete it once the rack below is yours.
  this-machine:
    kind: embedded-linux

  # Three FreeBSD machines: the MAC addresses are those of the ports that pkt-gen opens, here vcxl0 and vcxl1.
  # rack-1:
  #   kind: freebsd
  #   dut:
  #     host: dut
  #     ingress: { interface: cxl0, speed: 10 Gbit/s }
  #     egress: { interface: cxl1, speed: 10 Gbit/s }
  #     power: { kind: ipmi, host: dut-bmc, user: ppsgate, passwordFile: bmc.password }
  #   senders:
  #     - { host: generator, interface: cxl0, mac: "00:07:43:2e:e4:71", inet4: 198.18.0.110, inet6: "2001:2::110" }
  #   receiver:
  #     { host: generator, interface: cxl1, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110, inet6: "2001:2:0:8000::110" }
  #   builder:
  #     host: builder
  #     kernel: { kind: make, kernelConfig: GENERIC-NODEBUG }

# With a FreeBSD testbed pf-stateless, pf-stateful, ipfw-stateless and ipfw-stateful too.
scenarios: [forwarding]
families: [inet4]

gate:
  # The loss that matters: a smaller one is not a regression.
  margin: 2%
`;
/** An nftables.conf for networks that no lab uses for management or traffic. */
const starterRules = `\
# The router's rules. Pull requests change them, and ppsgate measures what that costs each packet:
# put your own in their place, and settings of the kernel into sysctl.conf beside them.
table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
    # Sources without an owner. A set would be faster: a first pull request to try ppsgate with.
    ip saddr 0.0.0.0/8 drop
    ip saddr 192.0.0.0/24 drop
    ip saddr 192.0.2.0/24 drop
    ip saddr 198.51.100.0/24 drop
    ip saddr 203.0.113.0/24 drop
    ip saddr 240.0.0.0/4 drop
    ip6 saddr 100::/64 drop
    ip6 saddr 2001:db8::/32 drop
  }
}
`;

// src/cli/init/init-files.ts
/** Undefined if nothing changes; throws a UsageError if a file can be neither read nor written. */
async function placeFile(file, { directory, force, dryRun }) {
	const { path } = file;
	const place = join(directory, path);
	try {
		const change = changeOf(file, await readIfThere(place), force);
		if (change === void 0) return void 0;
		const { kind, text } = change;
		if (dryRun) return {
			path,
			...change
		};
		if (text !== void 0) {
			const made = await mkdir(dirname(place), { recursive: true });
			await writeFile(place, text);
			await giveNew(made ?? place);
		}
		return {
			path,
			kind
		};
	} catch (error) {
		throw new UsageError(`${place} cannot be written (${reasonOf(error)}): check that it is a file and that this user may write it.`);
	}
}
function changeOf(file, found, force) {
	if ("isMissing" in file) return { kind: "missing" };
	if ("isObsolete" in file) return found === void 0 ? void 0 : { kind: "left" };
	if ("line" in file) {
		const { line, isThere } = file;
		if (found === void 0) return {
			kind: "created",
			text: `${line}\n`
		};
		if (found.split(/\r?\n/).some((one) => isThere.test(one))) return { kind: "unchanged" };
		return {
			kind: "extended",
			text: `${found}${found === "" || found.endsWith("\n") ? "" : "\n"}${line}\n`
		};
	}
	const { text, isTheirs = false } = file;
	if (found === void 0) return {
		kind: "created",
		text
	};
	if (found === text) return { kind: "unchanged" };
	return isTheirs || !force ? { kind: "kept" } : {
		kind: "overwritten",
		text
	};
}
async function readIfThere(path) {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return void 0;
		throw error;
	}
}

// src/cli/columns.ts
/** Pads columns to their widest cell; `paint` receives padded text. */
function columns(rows, paint = (text) => text) {
	const count = Math.max(0, ...rows.map(({ length }) => length));
	const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ""))));
	return rows.map((row, at) => row.map((text, column) => paint(padded(text, widths[column] ?? 0), at, column)).join("  ").trimEnd());
}
/** Terminals use two columns for Chinese characters and most emoji. */
const padded = (text, width) => text + " ".repeat(width - stringWidth(text));

// src/cli/init/workflows.ts
/** Approves a pull request at its current head; the default of `github.label` in ppsgate.yml. */
const approvalLabel = "ppsgate";
const checkoutAction = "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0";
const uploadAction = "actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0";
const admitJob = (setting) => `\
  admit:
    name: admit
    # A comment must be a command on a pull request, a check must be ours, an edit must be of the base; the rest ppsgate
    # decides.
    if: >-
      (github.event_name != 'issue_comment' || github.event.issue.pull_request
      && startsWith(github.event.comment.body, '/ppsgate'))
      && (github.event_name != 'check_run' || startsWith(github.event.check_run.name, 'ppsgate'))
      && (github.event.action != 'edited' || github.event.changes.base)
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read # ppsgate.yml of the base
      pull-requests: write # the answer to a command, or why a patch is not measured
      checks: write # the check, from the first moment on
      # statuses: write # only with \`status: true\` in ppsgate.yml
    outputs:
      go: \${{ steps.admit.outputs.go }}
      bisect: \${{ steps.admit.outputs.bisect }}
      request: \${{ steps.admit.outputs.request }}
      subject: \${{ steps.admit.outputs.subject }}
      cancel: \${{ steps.admit.outputs.cancel }}
    steps:
${checkout}
      - id: admit
        uses: ${setting.action}
        with:
          command: admit${configLine(setting)}
${dispatchedInputs}${conduitToken(setting)}`;
const gateJob = (setting) => `\
  gate:
    name: gate
    needs: admit
    if: needs.admit.outputs.go == 'true'
    runs-on: ${runsOn(setting.runner)}
    timeout-minutes: ${minutesOf(setting)}
    # The last admission of a patch counts. Jobs that measure nothing have a queue of their own, for
    # GitHub may look here before it looks at \`if\`.
    concurrency:
      group: ppsgate-\${{ needs.admit.outputs.go == 'true' && needs.admit.outputs.subject || github.run_id }}
      cancel-in-progress: true
    permissions:
      contents: read # the base, and the patch's commits as data
      actions: read # the experiment that \`/ppsgate extend\` goes on with
    steps:
${checkout}${readyRunner(setting)}
      - id: gate
        uses: ${setting.action}
        with:
          command: gate${configLine(setting)}
          request: \${{ needs.admit.outputs.request }}${conduitToken(setting)}
${upload}`;
const bisectJob = (setting) => `\
  bisect:
    name: bisect
    needs: admit
    if: needs.admit.outputs.bisect == 'true'
    runs-on: ${runsOn(setting.runner)}
    timeout-minutes: ${isBesideLab(setting) ? waitsForTestbed : "360"}
    # In a line beside that of gates: neither ends the other.
    concurrency:
      group: ppsgate-bisect-\${{ needs.admit.outputs.bisect == 'true' && needs.admit.outputs.subject || github.run_id }}
      cancel-in-progress: true
    permissions:
      contents: read # the base, the commits as data, and the history
    steps:
${checkout}${readyRunner(setting)}
      - id: bisect
        uses: ${setting.action}
        with:
          command: bisect${configLine(setting)}
          request: \${{ needs.admit.outputs.request }}${conduitToken(setting)}
${upload}`;
const cancelJob = `\
  cancel:
    name: cancel
    needs: admit
    if: needs.admit.outputs.cancel == 'true'
    runs-on: ubuntu-latest
    timeout-minutes: 5
    strategy:
      matrix:
        line: [ppsgate, ppsgate-bisect]
    # To stand in the line of a gate, or of a bisection, is what ends it.
    concurrency:
      group: \${{ matrix.line }}-\${{ needs.admit.outputs.cancel == 'true' && needs.admit.outputs.subject || github.run_id }}
      cancel-in-progress: true
    permissions: {}
    steps:
      - run: echo "What was measured of this patch is cancelled."`;
const publishJob = (setting) => `\
  publish:
    name: publish
    needs: [admit, gate, bisect]
    # Also when what measures failed or was cancelled.
    if: always() && (needs.admit.outputs.go == 'true' || needs.admit.outputs.bisect == 'true')
    runs-on: ubuntu-latest
    timeout-minutes: 75 # most of it waits, for an hour, until the answer is taken
${answerPermissions}
    steps:
${checkout}
      - uses: ${setting.action}
        with:
          command: publish${configLine(setting)}
          request: \${{ needs.admit.outputs.request }}${conduitToken(setting)}`;
const acceptJob = (setting) => `\
  accept:
    name: accept
    # \`/ppsgate accept\` in an issue that ppsgate has opened on a change; ppsgate asks GitHub whether its author may write.
    if: >-
      github.event_name == 'issue_comment' && !github.event.issue.pull_request
      && startsWith(github.event.comment.body, '/ppsgate accept')
      && ${isInsider}
    runs-on: ubuntu-latest
    timeout-minutes: 10
    concurrency:
      group: >-
        accept-\${{ !github.event.issue.pull_request
        && startsWith(github.event.comment.body, '/ppsgate accept')
        && ${isInsider} && github.event.issue.number
        || github.run_id }}
      cancel-in-progress: false
    permissions:
      contents: write # the level on the branch ppsgate-data
      issues: write # the reaction, and the end of the issue
    steps:
${checkout}
      - uses: ${setting.action}
        with:
          command: accept${configLine(setting)}`;
/** Separates jobs by permissions: those that measure have a read-only token. */
const splitWorkflow = (setting) => `\
# Judges patches on packets per second. A patch is hostile until an authorized person stands for it, so three jobs share
# the work: admit decides what may be measured; gate, or bisect, measures it
# ${isBesideLab(setting) ? "beside the lab" : "in the lab inside GitHub's runner"}, with a token that may only read; publish answers. Made by \`ppsgate init\`, which keeps
# what you change here.
name: ${setting.name}
${runName}

on: # zizmor: ignore[concurrency-limits] every event is answered; only what measures stands in a line
  # This file as the base has it, with a token that may write, also for a fork's patch: so no job may check the patch
  # out. ppsgate fetches its commits as data.
  pull_request_target: # zizmor: ignore[dangerous-triggers] nothing of the patch is checked out here; see the line above
    types: [opened, synchronize, reopened, edited, labeled]
${otherEvents(setting)}
permissions: {}

jobs:
${admitJob(setting)}

${gateJob(setting)}

${bisectJob(setting)}

${cancelJob}

${publishJob(setting)}

${acceptJob(setting)}
`;
/** Expression: the commenter has rights in the repository, as reported by GitHub with the comment. */
const isInsider = `contains(fromJSON('["OWNER", "MEMBER", "COLLABORATOR"]'), github.event.comment.author_association)`;
const otherEvents = ({ branch }) => `\
  # The buttons of the check. GitHub tells of them only where the check was made by a GitHub App of your own, not by this
  # workflow's token: make the App's token in a step before (actions/create-github-app-token, with \`id: app\`) and give
  # each step that may write checks \`token: \${{ steps.app.outputs.token }}\` beside its \`command\`.
  check_run:
    types: [rerequested, requested_action]
  # Commands, like \`/ppsgate run\` and \`/ppsgate bisect\`; in an issue \`/ppsgate accept\`.
  issue_comment: # zizmor: ignore[dangerous-triggers] the default branch is checked out then, never the patch
    types: [created]
  # Heads of a merge queue, if the branch rules have one. Only GitHub pushes there, and takes this file from
  # there, as with a push to the branch: a person with write access has read it and put it into the queue.
  merge_group:
    types: [checks_requested]
  workflow_dispatch:
    inputs:
${dispatchInputs}
  # The same from elsewhere: client_payload has these inputs by their names.
  repository_dispatch:
    types: [ppsgate]
  # At night the base against itself: what the testbed takes for a change where there is none.
  schedule:
    - cron: "17 3 * * *"
  # Measures the default branch for its badge.
  push:
    branches: [${(0, import_dist.stringify)(branch).trim()}]
`;
/** `#` starts a comment outside quotes. */
const quoted = (text) => text.includes("#") ? `"${text}"` : text;
const dispatched = parametersThat(({ dispatch }) => dispatch !== void 0);
const dispatchInputs = dispatched.map((name) => `      ${kebabCase(name)}:\n        description: ${quoted(parameter(name).dispatch ?? "")}`).join("\n");
/** ppsgate reads the rest from the event. */
const dispatchedInputs = dispatched.filter((name) => parameter(name).input !== void 0).map((name) => `          ${kebabCase(name)}: \${{ inputs.${kebabCase(name)} }}`).join("\n");
const answerPermissions = `\
    permissions:
      contents: write # results, badge and history on the branch ppsgate-data; with \`data: { branch: false }\`, read
      pull-requests: write # the comment
      checks: write # the check
      actions: read # the artifact of the job that measured
      issues: write # one for each lasting change of the default branch
      # statuses: write # only with \`status: true\` in ppsgate.yml`;
/** A Phabricator relay finds its run by the key of its job. */
const runName = `run-name: \${{ github.event.client_payload.key && format('ppsgate {0}', github.event.client_payload.key) || '' }}`;
const conduitToken = ({ hasPhabricator }) => hasPhabricator ? `\n          conduit-token: \${{ secrets.PPSGATE_CONDUIT_TOKEN }} # the bot on Phabricator, for revisions alone` : "";
const checkout = `\
      - uses: ${checkoutAction}
        with:
          fetch-depth: 0 # the base and the head, and where they parted
          persist-credentials: false`;
const upload = `\
      - if: always()
        uses: ${uploadAction}
        with:
          name: ppsgate-result
          path: \${{ runner.temp }}/ppsgate
          if-no-files-found: ignore`;
const configLine = ({ config }) => config === void 0 ? "" : `\n          config: ${config}`;
const isBesideLab = ({ runner }) => runner[0] === "self-hosted";
const waitsForTestbed = "1440 # the wait for a testbed is part of it";
/** Two kernels are built, and about twelve guests booted. */
const buildsKernels = "180 # most of it builds kernels and boots guests";
function minutesOf(setting) {
	if (isBesideLab(setting)) return waitsForTestbed;
	return setting.readyRunner === void 0 ? "30" : buildsKernels;
}
const readyRunner = ({ readyRunner: steps }) => steps === void 0 ? "" : `\n${steps}`;
const runsOn = (labels) => labels.length === 1 ? labels.join() : `[${labels.join(", ")}]`;

// src/cli/init/init-text.ts
const changeTexts = {
	created: "",
	unchanged: "",
	kept: "differs from the generated file; --force overwrites workflows, but never ppsgate.yml",
	overwritten: "",
	extended: "",
	left: "is an unused workflow and never runs: delete it",
	missing: "without it the lab has nothing to measure: add one, or let `ppsgate init --yes` write a small one"
};
function initText(files, label, { branch, found, leftOut, action }) {
	const texts = files.flatMap(({ path, text }) => text === void 0 ? [] : [`--- ${path}`, text]);
	const rows = files.map(({ path, kind }) => [
		kind,
		path,
		kind === "missing" && found.size > 0 ? `write \`overlay: { files: { ${[...found].map((one) => one.join(": ")).join(", ")} } }\` in ppsgate.yml, to measure the existing files` : changeTexts[kind]
	]);
	return [
		...texts,
		...texts.length > 0 ? ["Nothing is written yet. These changes would be made:"] : [],
		...columns([
			...rows,
			...leftOut.map(({ path, why }) => [
				"left out",
				path,
				why
			]),
			...labelRow(label)
		]),
		...label?.kind === "not-created" ? [oneLine(label.why), `  ${label.command}`] : [],
		"",
		...action === void 0 ? ["A workflow for GitHub needs a version of ppsgate: name one with --action OWNER/ppsgate@COMMIT."] : [
			`1. Commit these files to ${branch}: only that version counts, never one in a patch.`,
			`2. To measure a pull request from a fork, read it, then add the label ${approvalLabel}.`,
			"3. Comment `/ppsgate run` on any pull request to measure it."
		],
		"On this machine, `ppsgate gate` measures what the current branch changes."
	].join("\n");
}
const labelRow = (label) => label === void 0 || label.kind === "not-created" ? [] : [[
	label.kind,
	`label ${approvalLabel}`,
	`of ${label.repository}`
]];

export { approvalLabel, columns, hostedConfig, initText, labConfig, modeline, overlayOf, placeFile, readIfThere, splitWorkflow, starterRules };