// Handles output that is no longer read, as after head(1).

/** Drops further output, without other effects: a gate may be in progress. */
export function letReaderGo(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
