// netsniff-ng's trafgen(8) as the sender of a blast.
import type { Command } from '../host/shell.ts';
import { shell } from '../host/shell.ts';

/**
 * Sends until its standard input ends, so that no generator outlives the controller or the connection; then
 * prints trafgen's own log. trafgen forks: only its process group as a whole can be ended.
 */
export const senderScript = `
interface=$1 cpu=$2 rate=$3 flows=$4 limit_seconds=$5
log=$(mktemp)
exec {never}<> <(:)
set -m
nice -n -20 taskset -c "$cpu" trafgen --no-sock-mem -Q -i "$flows" -o "$interface" -P 1 -b "$rate"pps >"$log" 2>&1 &
group=$!
read -r -t "$limit_seconds" _
kill -INT -- "-$group" 2>/dev/null
for ((i = 0; i < 50; i++)); do
  kill -0 -- "-$group" 2>/dev/null || break
  read -r -t 0.02 -u "$never" _
done
kill -KILL -- "-$group" 2>/dev/null
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

export type Sent =
  | { kind: 'sent'; packets: number; seconds: number; offeredPps: number }
  | { kind: 'failed'; reason: string };

/** Reads the summary at the end of trafgen's log: packets handed to the kernel, and in how long. */
export function parseTrafgenLog(log: string): Sent {
  const packets = /^[ \t]*(\d+) packets outgoing$/m.exec(log)?.[1];
  const time = /^[ \t]*(\d+) sec, (\d+) usec on CPU/m.exec(log);
  const seconds = Number(time?.[1]) + Number(time?.[2]) / 1e6;
  if (packets === undefined || !(seconds > 0)) {
    const lastLine = log.trim().split('\n').at(-1) ?? '';
    return { kind: 'failed', reason: `trafgen ended without its summary: "${lastLine}"` };
  }
  return {
    kind: 'sent',
    packets: Number(packets),
    seconds,
    offeredPps: Number(packets) / seconds,
  };
}
