// netsniff-ng's trafgen(8) as the sender of a blast.
import { nsPerTick } from '../host/clock-ticks.ts';
import type { Command } from '../host/shell.ts';
import { shell } from '../host/shell.ts';

/**
 * Sends until its standard input ends, so that no generator outlives the controller or the connection; then
 * prints how long trafgen waited for its CPU, where the kernel tells, and trafgen's own log. trafgen forks: only its
 * process group as a whole can be ended.
 */
export const senderScript = `
export LC_ALL=C
interface=$1 cpu=$2 rate=$3 flows=$4 limit_seconds=$5
log=$(mktemp)
exec {never}<> <(:)

# Where the kernel groups programs by session, niceness counts within the session only, and the session has its own.
{ echo -20 >/proc/self/autogroup; } 2>/dev/null

stolen_ticks() {
  local name ticks
  while read -r name _ _ _ _ _ _ _ ticks _ && [[ $name != "cpu$cpu" ]]; do :; done </proc/stat
  echo "$ticks"
}

# For how long trafgen was due and its CPU was given to others: of this machine, or of its hypervisor.
tell_waiting() {
  local process ran waited ran_ns=0 waited_ns=0 now=$EPOCHREALTIME
  for process in $(pgrep -g "$group"); do
    { read -r ran waited _ <"/proc/$process/schedstat"; } 2>/dev/null || continue
    ((ran_ns += ran, waited_ns += waited))
  done
  # A kernel that does not count says 0.
  ((ran_ns == 0)) || echo "waited $waited_ns ns and $(($(stolen_ticks) - stolen)) ticks from $start to $now"
}

stolen=$(stolen_ticks)
start=$EPOCHREALTIME
set -m
nice -n -20 taskset -c "$cpu" trafgen --no-sock-mem -Q -i "$flows" -o "$interface" -P 1 -b "$rate"pps >"$log" 2>&1 &
group=$!
read -r -t "$limit_seconds" _
waiting=$(tell_waiting)
kill -INT -- "-$group" 2>/dev/null
for ((i = 0; i < 50; i++)); do
  kill -0 -- "-$group" 2>/dev/null || break
  read -r -t 0.02 -u "$never" _
done
kill -KILL -- "-$group" 2>/dev/null
[[ -z $waiting ]] || echo "$waiting"
cat "$log"
rm -f "$log"
`;

export type SenderRequest = {
  script: string;
  interface: string;
  cpu: number;
  offeredPps: number;
  flows: string;
  limitSeconds: number;
};

/** The command that runs `senderScript` from the path `script` on the sender. */
export function senderCommand(request: SenderRequest): Command {
  const { script, cpu, offeredPps, flows, limitSeconds } = request;
  return shell`bash ${script} ${request.interface} ${cpu} ${offeredPps} ${flows} ${limitSeconds}`;
}

type Sent =
  | {
      kind: 'sent';
      packets: number;
      seconds: number;
      offeredPps: number;
      /** Share of the time in which trafgen was due and did not run; absent where the sender does not tell. */
      waitedRatio?: number;
    }
  | { kind: 'failed'; reason: string };

/** Reads the line before trafgen's log and the summary at its end: packets handed to the kernel, and in how long. */
export function parseTrafgenLog(log: string): Sent {
  const packets = /^[ \t]*(\d+) packets outgoing$/m.exec(log)?.[1];
  const time = /^[ \t]*(\d+) sec, (\d+) usec on CPU/m.exec(log);
  const seconds = Number(time?.[1]) + Number(time?.[2]) / 1e6;
  if (packets === undefined || !(seconds > 0)) {
    const lastLine = log.trim().split('\n').at(-1) ?? '';
    return { kind: 'failed', reason: `trafgen ended without its summary: "${lastLine}"` };
  }
  const waitedRatio = waitedShare(log);
  return {
    kind: 'sent',
    packets: Number(packets),
    seconds,
    offeredPps: Number(packets) / seconds,
    ...(waitedRatio === undefined ? {} : { waitedRatio }),
  };
}

/** The share of one CPU, however many processes waited; the line comes first, where nothing of trafgen's can stand for it. */
function waitedShare(log: string): number | undefined {
  const [, ns, ticks, start, end] = waitingLine.exec(log) ?? [];
  const seconds = Number(end) - Number(start);
  if (!(seconds > 0)) return undefined;
  return Math.min(1, (Number(ns) + Number(ticks) * nsPerTick) / 1e9 / seconds);
}

const waitingLine =
  /^waited (\d{1,15}) ns and (\d{1,9}) ticks from (\d{1,10}\.\d{6}) to (\d{1,10}\.\d{6})\n/;
