/** Normalizes a code, such as `e785` to `E78.5`; undefined if it is not in ICD-10-CM format. */
export function normalizeIcdCode(input: string): string | undefined {
  const [, category, rest] = /^([A-Z]\d[0-9A-Z])(?:\.?([0-9A-Z]{1,4}))?$/.exec(input.trim().toUpperCase()) ?? []
  return category && (rest ? `${category}.${rest}` : category)
}

export const icdErrors = (codes: string[]) =>
  codes.flatMap((code, i) => (normalizeIcdCode(code) ? [] : [`codes[${i}] is not an ICD-10-CM code. Send a code such as E78.5.`]))
