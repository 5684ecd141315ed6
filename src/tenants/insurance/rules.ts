/** The code as it is written in the code book, such as E78.5 for e785; undefined where it has no format of ICD-10-CM. */
export function icdCode(sent: string): string | undefined {
  const [, category, rest] = /^([A-Z]\d[0-9A-Z])(?:\.?([0-9A-Z]{1,4}))?$/.exec(sent.trim().toUpperCase()) ?? []
  return category && (rest ? `${category}.${rest}` : category)
}

export const icdFaults = (codes: string[]) =>
  codes.flatMap((code, i) => (icdCode(code) ? [] : [`codes[${i}] is not written as an ICD-10-CM code, such as E78.5.`]))
