// Handles output that is no longer read, as when head(1) has seen enough.

/**
 * From now on it is lost, and nothing else: the work goes on, for a gate may be under way, and the program ends as it
 * would otherwise.
 */
export function letReaderGo(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
