// GitHub's published examples of event payloads.
import { createRequire } from 'node:module';

// The package is one JSON file with a wrong type declaration, so it is required and typed here.
const events: readonly { name: string; examples: readonly unknown[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples',
);

/** Names of all events with examples, such as `pull_request` and `push`. */
export const eventNames: readonly string[] = events.map((event) => event.name);

/** All example payloads of one event. */
export const payloadsOf = (eventName: string): readonly unknown[] =>
  events.filter((event) => event.name === eventName).flatMap((event) => event.examples);
