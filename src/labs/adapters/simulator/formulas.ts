import type { Sex } from './value-bands.ts'

export type Traits = { sex: Sex; age: number }
type Formula = {
  needs: string[]
  /** Null if a lab would not calculate it. */
  value: (of: (slug: string) => number, who: Traits) => number | null
  /** Labs measure it; only the simulator derives it, so that the values are consistent. */
  measured?: true
}

/** The LDL and VLDL estimates are not valid above this many mg/dL of triglycerides. */
const TRIGLYCERIDES_TOO_HIGH = 400
const estimateIfValid = (triglycerides: number, value: number) => (triglycerides < TRIGLYCERIDES_TOO_HIGH ? value : null)

/** Derived values by slug. A formula comes after the formulas that it needs. */
export const formulas: Record<string, Formula> = {
  'vldl-cholesterol-calc': {
    needs: ['triglycerides'],
    value: (of) => estimateIfValid(of('triglycerides'), of('triglycerides') / 5),
  },
  'ldl-cholesterol-calc': {
    needs: ['cholesterol-total', 'hdl-cholesterol', 'triglycerides'],
    value: (of) => estimateIfValid(of('triglycerides'), of('cholesterol-total') - of('hdl-cholesterol') - of('triglycerides') / 5),
  },
  'non-hdl-cholesterol': {
    needs: ['cholesterol-total', 'hdl-cholesterol'],
    value: (of) => of('cholesterol-total') - of('hdl-cholesterol'),
  },
  'cholesterol-hdl-ratio': {
    needs: ['cholesterol-total', 'hdl-cholesterol'],
    value: (of) => of('cholesterol-total') / of('hdl-cholesterol'),
  },
  egfr: { needs: ['creatinine'], value: (of, who) => estimateGfr(of('creatinine'), who) },
  'bun-creatinine-ratio': { needs: ['bun', 'creatinine'], value: (of) => of('bun') / of('creatinine') },
  'globulin-calc': { needs: ['protein-total', 'albumin'], value: (of) => of('protein-total') - of('albumin') },
  'bilirubin-direct': { needs: ['bilirubin-total'], value: (of) => of('bilirubin-total') / 4, measured: true },
  'iron-saturation': { needs: ['iron', 'tibc'], value: (of) => (100 * of('iron')) / of('tibc') },
  'albumin-creatinine-ratio': {
    needs: ['urine-albumin', 'urine-creatinine'],
    value: (of) => (100 * of('urine-albumin')) / of('urine-creatinine'),
  },
  hematocrit: { needs: ['hemoglobin', 'mchc'], value: (of) => (100 * of('hemoglobin')) / of('mchc'), measured: true },
  rbc: { needs: ['hematocrit', 'mcv'], value: (of) => (10 * of('hematocrit')) / of('mcv'), measured: true },
  mch: { needs: ['hemoglobin', 'rbc'], value: (of) => (10 * of('hemoglobin')) / of('rbc') },
  wbc: {
    needs: ['neutrophils-absolute', 'lymphocytes-absolute', 'monocytes-absolute', 'eosinophils-absolute', 'basophils-absolute'],
    value: (of) =>
      of('neutrophils-absolute') +
      of('lymphocytes-absolute') +
      of('monocytes-absolute') +
      of('eosinophils-absolute') +
      of('basophils-absolute'),
    measured: true,
  },
}

/** CKD-EPI 2021, which is defined for adults. */
function estimateGfr(creatinine: number, { sex, age }: Traits) {
  const [kappa, alpha, factor] = sex === 'female' ? [0.7, -0.241, 1.012] : [0.9, -0.302, 1]
  const ratio = creatinine / kappa
  return 142 * Math.min(ratio, 1) ** alpha * Math.max(ratio, 1) ** -1.2 * 0.9938 ** Math.max(18, age) * factor
}

export const isDerived = (slug: string, slugs: string[]) => formulas[slug]?.needs.every((need) => slugs.includes(need)) ?? false

/** Whether the lab calculates it from other results, so that it cannot exist without them. */
export const isCalculated = (slug: string, slugs: string[]) => isDerived(slug, slugs) && !formulas[slug]?.measured
