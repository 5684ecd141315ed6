import { Head } from '../../ui/head.tsx'

export const AttemptDetail = () => <Head title="AttemptDetail" />
