// A stream of a command as a recording keeps it: in whole lines, as text alone, and no more than there is room for.
import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';

type OutputLines = {
  /** The lines that are complete with this chunk; empty where none is. */
  take(chunk: Uint8Array): string;
  /** What is left, and what was left out. */
  end(): { rest: string; left: { bytes: number; sha256: string } | undefined };
};

/** Most bytes of each stream of each command: more than a profile's graph has. */
const mostOutputBytes = 16 * 1024 ** 2;
/** A mask sees whole lines; a longer one is left out, with all that follows. */
const longestLineBytes = 1024 ** 2;

/** Half a line may hold half a secret, and half a key is none that is known again. */
export function outputLines(): OutputLines {
  const decoder = new StringDecoder('utf8');
  let held = '';
  let kept = 0;
  let isOver = false;
  let leftBytes = 0;
  const hash = createHash('sha256');

  const leaveOut = (bytes: Uint8Array) => {
    leftBytes += bytes.byteLength;
    hash.update(bytes);
  };
  return {
    take(chunk) {
      kept += chunk.byteLength;
      isOver ||= kept > mostOutputBytes || chunk.includes(0);
      if (isOver) {
        leaveOut(chunk);
        return '';
      }
      held += decoder.write(Buffer.from(chunk));
      const end = isInKey(held) ? 0 : held.lastIndexOf('\n') + 1;
      const lines = held.slice(0, end);
      held = held.slice(end);
      if (held.length > longestLineBytes) {
        leaveOut(Buffer.from(held));
        held = '';
        isOver = true;
      }
      return lines;
    },
    end: () => ({
      // The line that something was cut off of may end in half a secret.
      rest: isOver ? '' : held + decoder.end(),
      left: leftBytes === 0 ? undefined : { bytes: leftBytes, sha256: hash.digest('hex') },
    }),
  };
}

/** A private key is known by its first line, as far as it goes. */
function isInKey(text: string): boolean {
  const begun = text.lastIndexOf('-----BEGIN ');
  return begun !== -1 && !text.slice(begun).includes('-----END ');
}
