type Lab = { name_rules: Record<string, unknown> }
type NameField = 'first_name' | 'last_name'

export const ADULT_AGE_YEARS = 18

/** Age from which a patient needs no proxy, for states where it is not 18. */
export type ConsentAges = Record<string, number>

export const ageOfConsent = (state: string | undefined, ages: ConsentAges) => ages[state ?? ''] ?? ADULT_AGE_YEARS

const plainLetters: Record<string, string> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  '\u2018': "'",
  '\u2019': "'",
  '\u02bc': "'",
  '\u2010': '-',
  '\u2011': '-',
  '\u2013': '-',
  '\u00a0': ' ',
}

const charsets: Record<string, RegExp> = { latin_ascii: /[\x20-\x7e]/, latin_1: /[\x20-\x7e\xa0-\xff]/ }

const stripMarks = (letter: string) => letter.normalize('NFD').replace(/\p{M}/gu, '')

/** Writes a name in the lab's charset: unsupported letters become the nearest plain letter, or a question mark. */
export function transmissionName(text: string, lab: Lab, field?: NameField): string {
  const charset = charsets[String(lab.name_rules['charset'])]
  const fits = (text: string) => [...text].every((letter) => !charset || charset.test(letter))
  const toPlain = (letter: string) =>
    [letter, plainLetters[letter] ?? stripMarks(letter)].find((candidate) => candidate && fits(candidate)) ?? '?'
  const name = [...text.normalize('NFC')].map(toPlain).join('')
  return field ? name.slice(0, maxNameLength(lab, field)) : name
}

export const maxNameLength = ({ name_rules }: Lab, field: NameField) => {
  const max = name_rules[`max_${field}`]
  return typeof max === 'number' ? max : undefined
}

/** E.164, with +1 for ten digits; undefined if the format is unknown. */
export function normalizePhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]+/g, '')
  if (/^\+[1-9]\d{6,14}$/.test(digits)) return digits
  if (/^\d{10}$/.test(digits)) return `+1${digits}`
  return /^1\d{10}$/.test(digits) ? `+${digits}` : undefined
}

/** Ten digits that begin with 1 or 2, the last of them the Luhn check digit over the prefix 80840. */
export const isNpi = (text: string) => /^[12]\d{9}$/.test(text) && passesLuhn(`80840${text}`)

function passesLuhn(digits: string) {
  const sum = [...digits].reverse().reduce((sum, digit, i) => {
    const value = Number(digit) * (i % 2 ? 2 : 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
