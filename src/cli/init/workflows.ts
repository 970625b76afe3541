// Generates the GitHub workflow of three jobs: one decides what is measured, one measures with a read-only token, one
// reports.
import { stringify } from 'yaml';
import { kebabCase, parameter, parametersThat } from '../../config/parameters.ts';

export type Setting = {
  name: string;
  branch: string;
  /** The value of `uses:`, optionally with a comment. */
  action: string;
  runner: readonly string[];
  /** Passes the secret with its bot's token. */
  hasPhabricator: boolean;
  /** Path of ppsgate.yml, if not at the top. */
  config?: string;
  /** Steps that prepare a GitHub runner to build kernels, before each measurement. */
  readyRunner?: string;
};

/** Approves a pull request at its current head; the default of `github.label` in ppsgate.yml. */
export const approvalLabel = 'ppsgate';

const checkoutAction = 'actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0';
const uploadAction = 'actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0';

const admitJob = (setting: Setting): string => `\
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

const gateJob = (setting: Setting): string => `\
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

const bisectJob = (setting: Setting): string => `\
  bisect:
    name: bisect
    needs: admit
    if: needs.admit.outputs.bisect == 'true'
    runs-on: ${runsOn(setting.runner)}
    timeout-minutes: ${isBesideLab(setting) ? waitsForTestbed : '360'}
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

const publishJob = (setting: Setting): string => `\
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

const acceptJob = (setting: Setting): string => `\
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
export const splitWorkflow = (setting: Setting): string => `\
# Judges patches on packets per second. A patch is hostile until an authorized person stands for it, so three jobs share
# the work: admit decides what may be measured; gate, or bisect, measures it
# ${isBesideLab(setting) ? 'beside the lab' : "in the lab inside GitHub's runner"}, with a token that may only read; publish answers. Made by \`ppsgate init\`, which keeps
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

const otherEvents = ({ branch }: Setting): string => `\
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
    branches: [${stringify(branch).trim()}]
`;

/** `#` starts a comment outside quotes. */
const quoted = (text: string): string => (text.includes('#') ? `"${text}"` : text);

const dispatched = parametersThat(({ dispatch }) => dispatch !== undefined);
const dispatchInputs = dispatched
  .map((name) => `      ${kebabCase(name)}:\n        description: ${quoted(parameter(name).dispatch ?? '')}`)
  .join('\n');
/** ppsgate reads the rest from the event. */
const dispatchedInputs = dispatched
  .filter((name) => parameter(name).input !== undefined)
  .map((name) => `          ${kebabCase(name)}: \${{ inputs.${kebabCase(name)} }}`)
  .join('\n');

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

const conduitToken = ({ hasPhabricator }: Setting): string =>
  hasPhabricator
    ? `\n          conduit-token: \${{ secrets.PPSGATE_CONDUIT_TOKEN }} # the bot on Phabricator, for revisions alone`
    : '';

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

const configLine = ({ config }: Setting): string => (config === undefined ? '' : `\n          config: ${config}`);

const isBesideLab = ({ runner }: Setting): boolean => runner[0] === 'self-hosted';

const waitsForTestbed = '1440 # the wait for a testbed is part of it';

/** Two kernels are built, and about twelve guests booted. */
const buildsKernels = '180 # most of it builds kernels and boots guests';

function minutesOf(setting: Setting): string {
  if (isBesideLab(setting)) return waitsForTestbed;
  return setting.readyRunner === undefined ? '30' : buildsKernels;
}

const readyRunner = ({ readyRunner: steps }: Setting): string => (steps === undefined ? '' : `\n${steps}`);

const runsOn = (labels: readonly string[]): string => (labels.length === 1 ? labels.join() : `[${labels.join(', ')}]`);
