/** Widths of the bars and spaces of each symbol, in modules. The last symbol is the stop with its final bar. */
const patterns = `
212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221
223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321
112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131
311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114
122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141
214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112`
  .trim()
  .split(/\s+/)

const [toC, toB, startB, startC, stop] = [99, 100, 104, 105, 106]

/** Encodes printable ASCII as Code 128 and returns alternating bar and space widths; null for any other text. */
export function code128(text: string): number[] | null {
  if (!/^[ -~]+$/.test(text)) return null
  const symbols = symbolsOf(text)
  const check = symbols.reduce((sum, symbol, index) => sum + symbol * Math.max(1, index), 0) % 103
  return [...symbols, check, stop].flatMap((symbol) => [...(patterns[symbol] as string)].map(Number))
}

function symbolsOf(text: string) {
  const symbols: number[] = []
  for (const part of text.match(/(?:\d\d){2,}|(?:(?!(?:\d\d){2})[ -~])+/g) ?? []) {
    const isDigitPairs = /^(?:\d\d){2,}$/.test(part)
    symbols.push(symbols.length ? (isDigitPairs ? toC : toB) : isDigitPairs ? startC : startB)
    symbols.push(...(isDigitPairs ? (part.match(/\d\d/g) ?? []).map(Number) : [...part].map((char) => char.charCodeAt(0) - 32)))
  }
  return symbols
}
