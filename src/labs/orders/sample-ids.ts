import { randomBytes } from 'node:crypto'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Sixty random bits in letters and digits that are hard to confuse. */
export const newSampleId = () => Array.from(randomBytes(12), (byte) => digits[byte & 31]).join('')
