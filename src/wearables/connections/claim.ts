/** A job looks at this many due rows. Other processes can hold the first ones. */
export const MAX_CANDIDATES = 20

/** Claims the first candidate that no other process holds. */
export async function claimFirst<C, R>(candidates: C[], claim: (candidate: C) => Promise<R | undefined>): Promise<R | undefined> {
  for (const candidate of candidates) {
    const claimed = await claim(candidate)
    if (claimed) return claimed
  }
  return undefined
}
