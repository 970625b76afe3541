// Logs a recurring sentence at growing intervals.

const firstSeconds = 60;
const longestSeconds = 3600;
/** A sentence that did not recur for this long is logged again at once. */
const forgottenSeconds = 2 * longestSeconds;
const maxSentences = 1000;

/** Returns a log that drops repetitions within an interval, which doubles from a minute up to an hour. */
export function seldomLog(log: (sentence: string) => unknown, now: () => Date): (sentence: string) => void {
  const logged = new Map<string, { at: number; reportedAt: number; seconds: number }>();
  return (sentence) => {
    const time = now().getTime() / 1000;
    const last = logged.get(sentence);
    const isOld = last !== undefined && time - last.reportedAt > forgottenSeconds;
    // A clock that was set back must not silence the log.
    if (last !== undefined && !isOld && Math.abs(time - last.at) < last.seconds) {
      last.reportedAt = time;
      return;
    }
    if (logged.size >= maxSentences) logged.clear();
    const seconds = last === undefined || isOld ? firstSeconds : Math.min(2 * last.seconds, longestSeconds);
    logged.set(sentence, { at: time, reportedAt: time, seconds });
    log(sentence);
  };
}
