/** UCUM codes by the spellings of labs, in lower case and without spaces. Codes that only differ in case are their own spelling. */
const spellings: Record<string, string> = {
  '%': '% percent %oftotal',
  '10*3/uL': '10*3/ul x10e3/ul 10e3/ul x10(3)/mcl 10^3/ul x10^3/ul 10(3)/mcl k/ul k/mcl thou/ul thous/mcl thousand/ul th/ul k/cumm',
  '10*6/uL': '10*6/ul x10e6/ul 10e6/ul x10(6)/mcl 10^6/ul x10^6/ul 10(6)/mcl m/ul mil/ul million/ul mill/mcl',
  'U/L': 'u/l units/l unit/l',
  '[IU]/L': '[iu]/l iu/l',
  '[IU]/mL': '[iu]/ml iu/ml',
  'm[IU]/L': 'm[iu]/l miu/l',
  'm[IU]/mL': 'm[iu]/ml miu/ml',
  'u[IU]/mL': 'u[iu]/ml uiu/ml mciu/ml mcu/ml',
  '[pH]': '[ph] ph phunits',
  fL: 'fl',
  'g/dL': 'g/dl gm/dl g/100ml',
  'g/L': 'g/l gm/l',
  'mL/min': 'ml/min',
  'mL/min/{1.73_m2}': 'ml/min/{1.73_m2} ml/min/1.73 ml/min/1.73m2 ml/min/1.73m^2 ml/min/1.73sqm ml/min/1.73m²',
  'meq/L': 'meq/l',
  'mg/L': 'mg/l',
  'mg/dL': 'mg/dl mgs/dl mg/100ml mg%',
  'mg/g': 'mg/g mg/gcreat mg/gcr',
  'mm/h': 'mm/h mm/hr',
  'mmol/L': 'mmol/l mm/l',
  'umol/L': 'umol/l mcmol/l',
  'nmol/L': 'nmol/l',
  'pmol/L': 'pmol/l',
  'ng/dL': 'ng/dl',
  'ng/mL': 'ng/ml',
  'ng/L': 'ng/l',
  pg: 'pg picograms',
  'pg/mL': 'pg/ml',
  'ug/dL': 'ug/dl mcg/dl',
  'ug/L': 'ug/l mcg/l',
  'ug/mL': 'ug/ml mcg/ml',
  'ug/g': 'ug/g mcg/g',
  s: 'sec seconds secs',
  '{ratio}': '{ratio} ratio calc ratio(calc)',
}

const codes = new Map(Object.entries(spellings).flatMap(([code, texts]) => texts.split(' ').map((text) => [text, code])))

/** The UCUM code of a unit as labs write it; null if the spelling is unknown. */
export const ucumOf = (unit: string | null | undefined): string | null =>
  codes.get(
    (unit ?? '')
      .toLowerCase()
      .replace(/[µμ]/g, 'u')
      .replace(/\s/g, '')
      .replace(/.\(calc\)$/, (text) => text.charAt(0)),
  ) ?? null
