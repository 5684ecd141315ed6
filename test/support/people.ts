/** Fictitious people. Their data is seeded into every test and must never appear in plain text. */
export const people = [
  {
    first_name: 'Zephyrine',
    last_name: 'Quillfeather',
    dob: '1961-07-23',
    phone_number: '+12025550143',
    email: 'zephyrine.quillfeather@example.org',
  },
  {
    first_name: 'Bartholomäus',
    last_name: 'Ödegård-Nkemelu',
    dob: '1987-12-05',
    phone_number: '+12025550178',
    email: 'bartholomaus@example.net',
  },
  {
    first_name: 'Ysoldemarie',
    last_name: "O'Thistlewick",
    dob: '2001-02-28',
    phone_number: '+12025550199',
    email: 'ysoldemarie@example.com',
  },
] as const

export const anAddress = (change: object = {}) => ({
  first_line: '77 Marrowbone Crescent',
  second_line: 'Apt 9',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'US',
  ...change,
})

export const someInfo = (change: object = {}, person: (typeof people)[number] = people[0]) => ({
  ...person,
  gender: 'female' as const,
  address: anAddress(),
  ...change,
})

export const someInsurance = (change: object = {}, person: (typeof people)[number] = people[0]) => ({
  payor_code: 'OAKMU',
  member_id: 'MEMBER-55501',
  relationship: 'Self' as const,
  insured: someInfo({}, person),
  ...change,
})

/** Values that must never be readable in a dump or a log. */
export const personalWords = [...people.flatMap((person) => Object.values(person)), 'Marrowbone', 'MEMBER-55501']
