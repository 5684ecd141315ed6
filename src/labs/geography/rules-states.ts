/** Code, name, main time zone, and the first three digits of its ZIP codes. */
const stateTable = `
AL Alabama|Chicago|350-369
AK Alaska|Anchorage|995-999
AZ Arizona|Phoenix|850-865
AR Arkansas|Chicago|716-729
CA California|Los_Angeles|900-961
CO Colorado|Denver|800-816
CT Connecticut|New_York|060-069
DE Delaware|New_York|197-199
DC District of Columbia|New_York|200 202-205 569
FL Florida|New_York|320-349
GA Georgia|New_York|300-319 398-399
HI Hawaii|Pacific/Honolulu|967-968
ID Idaho|Boise|832-838
IL Illinois|Chicago|600-629
IN Indiana|Indiana/Indianapolis|460-479
IA Iowa|Chicago|500-528
KS Kansas|Chicago|660-679
KY Kentucky|New_York|400-427
LA Louisiana|Chicago|700-714
ME Maine|New_York|039-049
MD Maryland|New_York|206-219
MA Massachusetts|New_York|010-027 055
MI Michigan|Detroit|480-499
MN Minnesota|Chicago|550-567
MS Mississippi|Chicago|386-397
MO Missouri|Chicago|630-658
MT Montana|Denver|590-599
NE Nebraska|Chicago|680-693
NV Nevada|Los_Angeles|889-898
NH New Hampshire|New_York|030-038
NJ New Jersey|New_York|070-089
NM New Mexico|Denver|870-884
NY New York|New_York|005 063 100-149
NC North Carolina|New_York|270-289
ND North Dakota|Chicago|580-588
OH Ohio|New_York|430-459
OK Oklahoma|Chicago|730-732 734-749
OR Oregon|Los_Angeles|970-979
PA Pennsylvania|New_York|150-196
RI Rhode Island|New_York|028-029
SC South Carolina|New_York|290-299
SD South Dakota|Chicago|570-577
TN Tennessee|Chicago|370-385
TX Texas|Chicago|733 750-799 885
UT Utah|Denver|840-847
VT Vermont|New_York|050-054 056-059
VA Virginia|New_York|201 220-246
WA Washington|Los_Angeles|980-994
WV West Virginia|New_York|247-268
WI Wisconsin|Chicago|530-549
WY Wyoming|Denver|820-831 834
PR Puerto Rico|Puerto_Rico|006-007 009
VI Virgin Islands|St_Thomas|008
GU Guam|Pacific/Guam|969
MP Northern Mariana Islands|Pacific/Saipan|969
AS American Samoa|Pacific/Pago_Pago|967`

type State = { code: string; name: string; zone: string; zips: [first: string, last: string][] }

const states = new Map(
  stateTable
    .trim()
    .split('\n')
    .map(parseState)
    .map((state) => [state.code, state]),
)

function parseState(line: string): State {
  const [label = '', zone = '', zips = ''] = line.split('|')
  const ranges = zips.split(' ').map((range): [string, string] => [range.slice(0, 3), range.slice(-3)])
  return { code: label.slice(0, 2), name: label.slice(3), zone: /^Pacific/.test(zone) ? zone : `America/${zone}`, zips: ranges }
}

const otherNames = {
  'washington dc': 'DC',
  'us virgin islands': 'VI',
  'united states virgin islands': 'VI',
  'commonwealth of the northern mariana islands': 'MP',
}
const codes = new Map([
  ...[...states.values()].flatMap(({ code, name }) => [[code.toLowerCase(), code] as const, [name.toLowerCase(), code] as const]),
  ...Object.entries(otherNames),
])

const normalizeWords = (text: string) =>
  text
    .toLowerCase()
    .replaceAll('.', '')
    .replace(/[^a-z]+/g, ' ')
    .trim()

/** The USPS code of a state or territory by its code or full name, in any case. */
export const stateCode = (text: string): string | undefined =>
  codes.get(normalizeWords(text)) ?? codes.get(normalizeWords(text).replace(/^us /, ''))

export const mainZone = (state: string) => states.get(state)?.zone

/** The territories have their own country codes but count as part of the United States. */
const territories = ['PR', 'VI', 'GU', 'MP', 'AS']
const unitedStates = ['us', 'usa', 'u s', 'u s a', 'united states', 'united states of america', 'the united states']
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The ISO 3166 code of a country, from a code or from a name of the United States. */
export function countryCode(text: string): string | undefined {
  if (unitedStates.includes(normalizeWords(text))) return 'US'
  const code = text.trim().toUpperCase()
  return /^[A-Z]{2}$/.test(code) && regions.of(code) ? code : undefined
}

export const isUnitedStates = (country: string) => ['US', ...territories].includes(countryCode(country) ?? '')

const hasZipPrefix = ({ zips }: State, prefix: string) => zips.some(([first, last]) => first <= prefix && prefix <= last)

/** False only if the ZIP code is known to belong to another state. */
export function zipMatches(state: string, zip: string): boolean {
  const entry = states.get(state)
  return !entry || hasZipPrefix(entry, zip.slice(0, 3))
}

export const stateOfZip = (zip: string) => [...states.values()].find((state) => hasZipPrefix(state, zip.slice(0, 3)))?.code
