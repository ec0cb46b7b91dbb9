/** Bytes of elements of a page that was opened from disk. */

interface FromBase64 {
  fromBase64?(text: string): Uint8Array;
}

export function fromBase64(text: string): ArrayBuffer {
  const fast = (Uint8Array as unknown as FromBase64).fromBase64;
  if (fast) return fast.call(Uint8Array, text).buffer as ArrayBuffer;
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes.buffer;
}
