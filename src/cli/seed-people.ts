import { type Random, randomInteger, randomItem } from '../platform/seeded-random.ts'

const firstNames = {
  female: ['Odile', 'Maravel', 'Isaura', 'Thessaly', 'Brisella', 'Lunetta', 'Corvina', 'Elowyn', 'Nerida', 'Sabrielle'],
  male: ['Corentin', 'Aldous', 'Evander', 'Peregrin', 'Lysander', 'Torvald', 'Ambrus', 'Caspian', 'Matthis', 'Orlan'],
}
const lastNames = [
  'Fernsby',
  'Thornquist',
  'Vanterpool',
  'Ashgrove',
  'Mirewood',
  'Halloway',
  'Peakes',
  'Undershaw',
  'Brightwater',
  'Okonveldt',
]
const streets = ['Saltmarsh Lane', 'Juniper Court', 'Old Ferry Road', 'Lantern Street', 'Quarry Hill']
const towns = [
  { city: 'Phoenix', state: 'AZ', zip: '85004' },
  { city: 'Tucson', state: 'AZ', zip: '85701' },
  { city: 'San Diego', state: 'CA', zip: '92101' },
  { city: 'Austin', state: 'TX', zip: '78701' },
]

/** A fictitious person with a phone number reserved for fiction and an email address reserved for examples. */
export function person(random: Random) {
  const gender = random() < 0.5 ? ('female' as const) : ('male' as const)
  const first_name = randomItem(random, firstNames[gender]) ?? ''
  const last_name = randomItem(random, lastNames) ?? ''
  const { city, state, zip } = randomItem(random, towns) ?? { city: '', state: '', zip: '' }
  const pad = (n: number) => String(n).padStart(2, '0')
  const address = {
    first_line: `${randomInteger(random, 1, 199)} ${randomItem(random, streets)}`,
    second_line: null,
    city,
    state,
    zip,
    country: 'US',
  }
  return {
    first_name,
    last_name,
    gender,
    dob: `${randomInteger(random, 1945, 2004)}-${pad(randomInteger(random, 1, 12))}-${pad(randomInteger(random, 1, 28))}`,
    phone_number: `+120255501${pad(randomInteger(random, 0, 99))}`,
    email: `${first_name}.${last_name}@example.org`.toLowerCase(),
    address,
  }
}
