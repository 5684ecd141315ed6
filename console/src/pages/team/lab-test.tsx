import { Head } from '../../ui/head.tsx'

export const LabTestDetail = () => <Head title="LabTestDetail" />
