// An inbox with some methods replaced.
import type { Inbox } from '../../src/relay/inbox.ts';

export const withMethods = (inbox: Inbox, methods: Partial<Inbox>): Inbox =>
  new Proxy(inbox, {
    get(target, name) {
      const method = Reflect.get(name in methods ? methods : target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
