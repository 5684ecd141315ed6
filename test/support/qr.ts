import { createCanvas, loadImage } from '@napi-rs/canvas'
import { BinaryBitmap, DecodeHintType, HybridBinarizer, QRCodeReader, RGBLuminanceSource } from '@zxing/library'

/** Reads a QR code from an image. */
export async function readQrCode(png: Buffer) {
  const image = await loadImage(png)
  const canvas = createCanvas(image.width, image.height)
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, image.width, image.height)
  const gray = Uint8ClampedArray.from({ length: image.width * image.height }, (_, i) => data[i * 4] as number)
  const bitmap = new BinaryBitmap(new HybridBinarizer(new RGBLuminanceSource(gray, image.width, image.height)))
  // The image contains only an upright code.
  return new QRCodeReader().decode(bitmap, new Map([[DecodeHintType.PURE_BARCODE, true]])).getText()
}
