// Renders the relay's own comments in Remarkup.

import { commandsFor } from '../forge/patch/command.ts';
import { callOnPhabricator } from '../model/patch.ts';
import { remarkupText } from '../model/remarkup.ts';
import { withoutPaths } from '../model/without-paths.ts';
import type { ReplyTopic } from './decide.ts';

/** @param why a sentence that may contain untrusted text, or empty */
export function replyText(topic: ReplyTopic, why: string): string {
  const reason = why === '' ? [] : [remarkupText(withoutPaths(why), 1000)];
  switch (topic) {
    case 'refused':
      return ['**ppsgate: not measured**', ...reason].join('\n\n');
    case 'not-cancelled':
      return ['**ppsgate: not cancelled**', ...reason].join('\n\n');
    case 'mistaken':
      return ['**ppsgate did not understand**', ...reason, help].join('\n\n');
    case 'help':
      return ['**ppsgate**', help].join('\n\n');
  }
}

/** A list, as phones would cut off a table of this width. */
const help = commandsFor(callOnPhabricator)
  .map(({ write, to }) => `- ${remarkupText(write)}: ${to}`)
  .join('\n');
