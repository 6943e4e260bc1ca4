/** When a certificate is valid, in milliseconds since 1970. */
export interface Validity {
  readonly validFrom: number
  readonly validTo: number
}

/**
 * Whether the last sixth of its life has begun. Inlet renews its own certificates at two thirds of their life, so this
 * means that renewals fail. For certificates of a few days it is less than a threshold in days.
 */
export const isLate = ({ validFrom, validTo }: Validity, now: number): boolean =>
  validTo - now < (validTo - validFrom) / 6
