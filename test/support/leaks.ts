import { personalWords } from './people.ts'

/** A whole key, not the prefix that lists show. */
const key = /\b((sk|pk|lks|lkp)_(us|eu)|mg|at|lt|ut|cs|iv)_[A-Za-z0-9]{20,}/

/** The personal data of the seeded people and the keys in a text. */
export function findLeaks(text: string, where: string) {
  const lower = text.toLowerCase()
  const words = personalWords.filter((word) => lower.includes(word.toLowerCase()) || lower.includes(Buffer.from(word).toString('hex')))
  return [...words.map((word) => `${where}: ${word}`), ...(key.test(text) ? [`${where}: a key`] : [])]
}
