// Reports a DUT that does not come back.

/** Reports that the machine does not come back, and needs a person before the next measurement. */
export class DutLostError extends Error {
  override readonly name = 'DutLostError';
}
