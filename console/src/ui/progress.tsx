import { formatCount } from '../format.ts'

/** `total` is null while it is unknown. */
export const Progress = ({ done, total, share }: { done: number; total: number | null; share: number }) => (
  <div class="stack tight">
    <div
      class="progress"
      role="progressbar"
      aria-label="Progress"
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div style={{ width: `${share * 100}%` }} />
    </div>
    <span class="small muted">
      {formatCount(done)}
      {total === null ? '' : ` of ${formatCount(total)}`}
    </span>
  </div>
)
