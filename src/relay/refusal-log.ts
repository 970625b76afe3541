// Logs refused requests of a relay.
import type { IncomingMessage } from 'node:http';
import { checkAgent } from './delivery.ts';

export const checkCommand = 'ppsgate phabricator check';

export type LogRefusal = (from: Pick<IncomingMessage, 'headers' | 'socket'>, why: string) => void;

type RefusalLogDeps = { now(): Date; log(sentence: string): void };

const secondsBetweenLines = 60;

/** Logs each kind of refusal once a minute, without the request's text: strangers control its rate. */
export function refusalLog({ now, log }: RefusalLogDeps): LogRefusal {
  const logged = new Map<string, { at: Date; suppressed: number }>();
  return ({ headers, socket }, why) => {
    const isOfCheck = headers['user-agent'] === checkAgent;
    const kind = `${why} ${isOfCheck}`;
    const last = logged.get(kind);
    // A clock that was set back must not silence the log.
    if (last !== undefined && Math.abs(+now() - +last.at) < secondsBetweenLines * 1000) {
      last.suppressed += 1;
      return;
    }
    const more = last?.suppressed ? ` ${last.suppressed} more were refused since the last such line.` : '';
    logged.set(kind, { at: now(), suppressed: 0 });
    const whose = isOfCheck ? `; it claims to be from \`${checkCommand}\`` : '';
    log(`Refused from ${socket.remoteAddress ?? 'a closed connection'}: ${why}${whose}.${more}`);
  };
}
