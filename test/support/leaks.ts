import { personalWords } from './people.ts'

/** A whole key, not the visible beginning that lists show. */
const key = /\b((sk|pk|lks|lkp)_(us|eu)|mg|at|lt|ut|cs|iv)_[A-Za-z0-9]{20,}/

/** Where a text holds personal data of the seeded people, or a key. */
export function findLeaks(text: string, where: string) {
  const lower = text.toLowerCase()
  const words = personalWords.filter((word) => lower.includes(word.toLowerCase()) || lower.includes(Buffer.from(word).toString('hex')))
  return [...words.map((word) => `${where}: ${word}`), ...(key.test(text) ? [`${where}: a key`] : [])]
}
