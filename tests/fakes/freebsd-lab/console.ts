// The serial console of a machine: output of the loader, the kernel and rc(8) goes to all listeners.

export type LabConsole = {
  isOn: boolean;
  /** Ends lines like a terminal. */
  print(text: string): void;
  /** Returns a function that stops listening. */
  listen(onOutput: (chunk: Buffer) => void): () => void;
};

export function labConsole(): LabConsole {
  const listeners = new Set<(chunk: Buffer) => void>();
  const console: LabConsole = {
    isOn: true,
    print(text) {
      if (!console.isOn) return;
      const chunk = Buffer.from(text.replaceAll('\n', '\r\n'));
      for (const onOutput of listeners) onOutput(chunk);
    },
    listen(onOutput) {
      listeners.add(onOutput);
      return () => void listeners.delete(onOutput);
    },
  };
  return console;
}
