import type { Sex } from './value-bands.ts'

export type Traits = { sex: Sex; age: number }
type Formula = {
  needs: string[]
  /** Null if a lab would not calculate it. */
  value: (valueFor: (slug: string) => number, traits: Traits) => number | null
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
    value: (valueFor) => estimateIfValid(valueFor('triglycerides'), valueFor('triglycerides') / 5),
  },
  'ldl-cholesterol-calc': {
    needs: ['cholesterol-total', 'hdl-cholesterol', 'triglycerides'],
    value: (valueFor) =>
      estimateIfValid(
        valueFor('triglycerides'),
        valueFor('cholesterol-total') - valueFor('hdl-cholesterol') - valueFor('triglycerides') / 5,
      ),
  },
  'non-hdl-cholesterol': {
    needs: ['cholesterol-total', 'hdl-cholesterol'],
    value: (valueFor) => valueFor('cholesterol-total') - valueFor('hdl-cholesterol'),
  },
  'cholesterol-hdl-ratio': {
    needs: ['cholesterol-total', 'hdl-cholesterol'],
    value: (valueFor) => valueFor('cholesterol-total') / valueFor('hdl-cholesterol'),
  },
  egfr: { needs: ['creatinine'], value: (valueFor, traits) => estimateGfr(valueFor('creatinine'), traits) },
  'bun-creatinine-ratio': { needs: ['bun', 'creatinine'], value: (valueFor) => valueFor('bun') / valueFor('creatinine') },
  'globulin-calc': { needs: ['protein-total', 'albumin'], value: (valueFor) => valueFor('protein-total') - valueFor('albumin') },
  'bilirubin-direct': { needs: ['bilirubin-total'], value: (valueFor) => valueFor('bilirubin-total') / 4, measured: true },
  'iron-saturation': { needs: ['iron', 'tibc'], value: (valueFor) => (100 * valueFor('iron')) / valueFor('tibc') },
  'albumin-creatinine-ratio': {
    needs: ['urine-albumin', 'urine-creatinine'],
    value: (valueFor) => (100 * valueFor('urine-albumin')) / valueFor('urine-creatinine'),
  },
  hematocrit: { needs: ['hemoglobin', 'mchc'], value: (valueFor) => (100 * valueFor('hemoglobin')) / valueFor('mchc'), measured: true },
  rbc: { needs: ['hematocrit', 'mcv'], value: (valueFor) => (10 * valueFor('hematocrit')) / valueFor('mcv'), measured: true },
  mch: { needs: ['hemoglobin', 'rbc'], value: (valueFor) => (10 * valueFor('hemoglobin')) / valueFor('rbc') },
  wbc: {
    needs: ['neutrophils-absolute', 'lymphocytes-absolute', 'monocytes-absolute', 'eosinophils-absolute', 'basophils-absolute'],
    value: (valueFor) =>
      valueFor('neutrophils-absolute') +
      valueFor('lymphocytes-absolute') +
      valueFor('monocytes-absolute') +
      valueFor('eosinophils-absolute') +
      valueFor('basophils-absolute'),
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
