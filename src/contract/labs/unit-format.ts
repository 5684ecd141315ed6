/** Labs report units in UCUM, which writes `{1.73_m2}` and `u[IU]`. People read `1.73 m²` and `uIU`. */
export const formatUnit = (unit: string) =>
  unit
    .replace(/[{}[\]]/g, '')
    .replace('_m2', ' m²')
    .replace(/10\*3/, '10³')
    .replace(/10\*6/, '10⁶')
