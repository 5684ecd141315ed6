import { TextField } from './forms.tsx'

type RateLimit = { requests_per_second: number; burst?: number | null | undefined }

/** A rate as it is typed. Empty text means no rate. */
export type RateText = { perSecond: string; burst: string }

export const rateText = (rate: RateLimit | null): RateText => ({
  perSecond: rate ? String(rate.requests_per_second) : '',
  burst: rate?.burst ? String(rate.burst) : '',
})

export const rateFrom = ({ perSecond, burst }: RateText) =>
  perSecond ? { requests_per_second: Number(perSecond), ...(burst ? { burst: Number(burst) } : {}) } : null

export const Rate = ({ rate }: { rate: RateLimit | null }) =>
  rate ? (
    <>
      {rate.requests_per_second} per second
      {rate.burst ? <span class="small muted"> burst {rate.burst}</span> : null}
    </>
  ) : (
    <span class="faint">None</span>
  )

type RateFieldsProps = { value: RateText; onChange: (value: RateText) => void; errors?: Record<string, string | undefined> }

export const RateFields = ({ value, onChange, errors = {} }: RateFieldsProps) => (
  <div class="form-grid">
    <TextField
      label="Requests per second"
      type="number"
      min="1"
      max="100000"
      hint="Leave empty for no fixed rate."
      value={value.perSecond}
      onText={(perSecond) => onChange({ ...value, perSecond })}
      error={errors['rate_limit.requests_per_second']}
    />
    <TextField
      label="Burst"
      type="number"
      min="1"
      max="1000000"
      hint="Requests accepted at once after a pause."
      disabled={!value.perSecond}
      value={value.burst}
      onText={(burst) => onChange({ ...value, burst })}
      error={errors['rate_limit.burst']}
    />
  </div>
)
