// The serial console of a machine: output of the loader, the kernel and rc(8) goes to all listeners.

export type LabConsole = {
  /** Ends lines like a terminal. */
  isOn: boolean;
  /** With line ends as a terminal wants them. */
  print(text: string): void;
  /** Returns a function that stops listening. */
  listen(onOutput: (chunk: Buffer) => void): () => void;
  /** A virtual machine's console is a socket that closes with its power. */
  endsWithPower: boolean;
  /** Ends the programs that show it. */
  end(): void;
  /** Called at its end; returns a function that removes the callback. */
  onEnd(act: () => void): () => void;
};

export function labConsole(): LabConsole {
  const listeners = new Set<(chunk: Buffer) => void>();
  const enders = new Set<() => void>();
  const console: LabConsole = {
    isOn: true,
    endsWithPower: false,
    print(text) {
      if (!console.isOn) return;
      const chunk = Buffer.from(text.replaceAll('\n', '\r\n'));
      for (const onOutput of listeners) onOutput(chunk);
    },
    listen(onOutput) {
      listeners.add(onOutput);
      return () => void listeners.delete(onOutput);
    },
    end() {
      for (const act of [...enders]) act();
    },
    onEnd(act) {
      enders.add(act);
      return () => void enders.delete(act);
    },
  };
  return console;
}
